"""Dataset folder on disk: build, card, Parquet files, installation, upload."""
