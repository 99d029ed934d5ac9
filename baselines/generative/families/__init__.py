"""How the families of listening models write words and sound for their models."""
