"""Stage `refine`: one spelling for each title, ground truth by upvotes, threads of the right size."""
