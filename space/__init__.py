"""Leaderboard: stores submissions, computes their scores, and shows them with chance and reported results."""
