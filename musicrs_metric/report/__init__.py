"""Reports on run folders: HTML, Markdown, figures, and one JSON with every number."""
