"""`python -m builder_scripts`."""

from .cli import main

if __name__ == "__main__":
    main()
