"""Shared code that every room may import: files, logs, tables, text and the chat client. No scores."""
