"""Stage `threads`: from mined rows to threads with a video and enough replies, the same on DuckDB and Spark."""
