"""Models that put sound and words into one space, and how a thread's clips go through them."""
