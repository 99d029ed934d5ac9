"""Getting the audio behind the links: one download for each video, with a ledger of what became of it."""
