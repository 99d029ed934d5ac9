"""The leaderboard: takes submissions in, keeps them, scores them, and shows them beside chance and the paper."""
