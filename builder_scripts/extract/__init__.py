"""Stage `extract`: the songs, artists and albums that posts and replies name."""

MODEL = "Qwen/Qwen2.5-7B-Instruct"
