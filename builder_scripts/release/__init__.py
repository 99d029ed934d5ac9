"""Stage `release`: the dataset, with all that may be published of its making."""
