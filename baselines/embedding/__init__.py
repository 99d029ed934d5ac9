"""Embeddings of texts, and vectors that are kept."""
