"""Sends a run to a leaderboard: over HTTP to its page, or by pull request to the repository that keeps its results."""
