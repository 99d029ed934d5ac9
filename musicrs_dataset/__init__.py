"""The MusiCRS conversations: records, importers, the Parquet repo, clips, pools, validation, audit."""
