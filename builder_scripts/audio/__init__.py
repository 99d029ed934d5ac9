"""Stage `audio`: the sound behind the links, and what is gone before anybody looks at it."""
