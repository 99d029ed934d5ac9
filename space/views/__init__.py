"""Tabs of the page: each renders data of the leaderboard as HTML in which all text from outside is escaped."""
