"""What every room may import: files, logs, text and the chat client. No scores."""
