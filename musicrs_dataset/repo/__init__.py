"""The dataset repository on disk: build, card, Parquet files, installation, upload."""
