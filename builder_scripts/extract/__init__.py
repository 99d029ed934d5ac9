"""Stage `extract`: songs, artists and albums that posts and replies name."""
