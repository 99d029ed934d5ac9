"""Files of a run: predictions, run card, scores of a run against a dataset."""
