"""Results as the Hugging Face Hub shows them: on a model's page, and on the leaderboard of the dataset."""
