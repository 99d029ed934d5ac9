"""The tabs of the page: each turns rows of the board into HTML in which everything from outside is text."""
