"""Stage `queries`: the request that each post makes, in a few sentences."""

MODEL = "google/gemma-3-12b-it"
