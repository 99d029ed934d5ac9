"""Audio of the linked videos: download, decoding, clips."""
