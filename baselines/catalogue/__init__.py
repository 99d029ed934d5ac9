"""Systems on corpora whose systems rank a whole catalogue."""
