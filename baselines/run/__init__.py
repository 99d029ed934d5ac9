"""One run of one system: shards, run folder, run card, variants."""
