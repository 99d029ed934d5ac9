"""Families of audio language models: their prompts, their audio features and their ways to load."""
