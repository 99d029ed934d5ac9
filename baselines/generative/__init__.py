"""Language models that hear, and the protocols under which they are asked to rank."""
