"""Data of the leaderboard page: scored rows, chance and reported results, filtered, sorted, compared and exported."""
