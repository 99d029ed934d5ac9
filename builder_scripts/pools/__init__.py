"""Stage `pools`: what people decided is put into effect, and candidate pools are drawn."""
