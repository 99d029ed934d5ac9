"""Embeddings of texts, and the cache of their vectors."""
