"""Corpora with dialogues of several turns, and rankings of a whole catalogue."""
