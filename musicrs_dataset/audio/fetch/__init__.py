"""Downloads of the linked videos, one per video, with a ledger of the failures."""
