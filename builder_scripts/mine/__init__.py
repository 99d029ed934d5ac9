"""Stage `mine`: from compressed dumps to typed rows of the wanted subreddits, one Parquet file per dump."""
