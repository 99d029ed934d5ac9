"""Stage `audio`: downloads of the linked videos, and the status of each."""
