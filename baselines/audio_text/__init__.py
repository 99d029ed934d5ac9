"""Models of audio and text in one space, and the systems made of them."""
