"""The exhibits of the benchmark from run folders: one JSON with every number; HTML, Markdown and figures made of it."""
