"""Scores of rankings on MusiCRS, each with its chance level, its ceiling and its interval."""

__version__ = "0.2.0"
