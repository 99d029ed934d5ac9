"""`python -m builder_scripts`."""

import sys

try:
    from .cli import main
except ModuleNotFoundError as error:  # the options of all commands are models of pydantic
    if error.name != "pydantic":
        raise
    print("error: builder_scripts needs pydantic; install it with `pip install -e '.[builder]'`", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    main()
