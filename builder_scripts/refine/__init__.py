"""Stage `refine`: one spelling per title, ground truth by upvotes, threads with enough answers."""
