"""`python -m baselines` and `accelerate launch -m baselines`."""

from .cli import main

if __name__ == "__main__":
    main()
