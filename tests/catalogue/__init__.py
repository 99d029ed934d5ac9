"""Tests of corpora with dialogues and catalogues."""
