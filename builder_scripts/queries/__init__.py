"""Stage `queries`: the query of each post."""
