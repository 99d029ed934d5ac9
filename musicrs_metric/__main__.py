"""`python -m musicrs_metric`."""

from .cli import main

main()
