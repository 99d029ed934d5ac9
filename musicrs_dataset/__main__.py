"""`python -m musicrs_dataset`."""

from .cli import main

main()
