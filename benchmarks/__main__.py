"""Runs the benchmarks named on the command line, or all.

python -m benchmarks                           all, one after the other
python -m benchmarks scoring --threads 10000   one, with its own arguments
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "scoring",
    "places",
    "catalogue",
    "evaluate_module",
    "comparing",
    "simulations",
    "few_threads",
    "sound",
    "embedding",
    "mining",
    "packed",
    "gpu_smoke",
    "board",
    "board_load",
    "board_page",
)
# Makes tables instead of measuring speed; `all` leaves it out.
TABLES = ("text_results",)  # fmt: skip


def main() -> None:
    """Run one benchmark with the arguments after its name, or all with none."""
    name, *arguments = sys.argv[1:] or ["all"]
    if name != "all" and name not in (*NAMES, *TABLES):
        print(f"error: no benchmark {name!r}; expected one of {', '.join((*NAMES, *TABLES))}", file=sys.stderr)
        sys.exit(2)
    for module in NAMES if name == "all" else (name,):
        print(f"== {module}", flush=True)
        import_module(f"benchmarks.{module}").main(arguments)


if __name__ == "__main__":
    main()
