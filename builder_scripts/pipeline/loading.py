"""Load every configuration of a dataset folder with the `datasets` library, in a process of its own.

    python -m builder_scripts.pipeline.loading FOLDER

prints `{"configuration": rows}`. The cache under `HF_HOME` then has the dataset under the folder's name, so that
`load_dataset("<name>", "<configuration>")` finds it from anywhere.
"""

from __future__ import annotations

import sys

from musicrs_metric.base.files import to_json


def main() -> None:
    """Load and count."""
    import datasets

    folder = sys.argv[1]
    datasets.disable_progress_bars()
    names = datasets.get_dataset_config_names(folder)
    sys.stdout.write(to_json({name: len(datasets.load_dataset(folder, name, split="test")) for name in names}) + "\n")


if __name__ == "__main__":
    main()
