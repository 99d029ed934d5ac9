"""Commands of the baselines, one per file."""
