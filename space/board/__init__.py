"""What the page shows, as data: scored rows beside chance and the paper's own, filtered, sorted, compared, exported."""
