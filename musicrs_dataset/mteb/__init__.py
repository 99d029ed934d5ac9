"""The dataset as tasks of mteb: tables that mteb reads, and the tasks themselves."""
