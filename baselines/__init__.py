"""The baselines: one small file per system, one runner for all of them."""
