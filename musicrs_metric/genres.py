"""The benchmark's seven genres: which subreddits make one, and which macro-genre it belongs to (MusiCRS paper, §3)."""

from __future__ import annotations

GENRE_OF_SUBREDDIT = {
    "classicalmusic": "Classical",
    "hiphopheads": "Hip-Hop",
    "popheads": "Pop",
    "electronicmusic": "Electronic",
    "metal": "Metal",
    "indieheads": "Indie",
    "postrock": "Indie",
    "jazz": "Jazz",
    "ambientmusic": "Jazz",
}

GENRES = ("Classical", "Hip-Hop", "Pop", "Electronic", "Metal", "Indie", "Jazz")

# Mainstream music, instrumental music, alternative and electronic.
MACRO_OF_GENRE = {
    "Hip-Hop": "MM",
    "Pop": "MM",
    "Classical": "IM",
    "Jazz": "IM",
    "Indie": "AE",
    "Metal": "AE",
    "Electronic": "AE",
}
