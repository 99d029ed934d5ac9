"""Make `load_dataset("musicrs")` load the installed data. Other data in the cache of `datasets` has no influence.

`datasets` keeps no record of a name that the Hub does not have. It loads the folder of its cache that changed last. A
`.map`, a `.filter`, a copy or another folder called musicrs may change that folder. The installation therefore writes a
note next to its data, and this hook makes `datasets` read the note.

`python -m musicrs_dataset install` copies this file into the environment, with a `.pth` file that runs `activate` when
Python starts. The copy needs the standard library only. It does nothing before `datasets` is imported, and afterwards
it acts on the one name alone. Without it, `datasets` refuses the name: see `musicrs_dataset.repo.install`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

NAME = "musicrs"
NOTE = "installed.json"
_LOADER = "datasets.load"
_CACHE_BUILDER = "datasets.packaged_modules.cache.cache"  # reads a prepared folder of the cache


def activate() -> None:
    """Serve the installed data under its name in this process; a second call changes nothing."""
    if _LOADER in sys.modules:
        _serve(sys.modules[_LOADER])
    elif not any(isinstance(finder, _OnImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())


def datasets_cache() -> str:
    """Return the cache folder of `datasets`, by its own rule and without its import, which takes a second."""
    if "datasets.config" in sys.modules:
        return str(sys.modules["datasets.config"].HF_DATASETS_CACHE)
    cache = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    home = os.path.expanduser(os.getenv("HF_HOME", cache))
    return os.getenv("HF_DATASETS_CACHE", os.path.join(home, "datasets"))


def read_note(cache: str) -> dict[str, Any] | None:
    """Read what was installed into a cache of `datasets`.

    Args:
        cache: The folder of the cache.

    Returns:
        The note with `configs` (name to fingerprint), `default`, `version`, `hash`, `threads` and `source`; None where
        there is no note, or one of a version that kept the name by dates.
    """
    import json

    try:
        with open(os.path.join(cache, NAME, NOTE), encoding="utf-8") as file:
            note = json.load(file)
    except (OSError, ValueError):
        return None
    return note if isinstance(note, dict) and isinstance(note.get("configs"), dict) else None


def installed_folder(cache: str, note: dict[str, Any], config: str) -> str:
    """Return where a cache holds an installed configuration."""
    return os.path.join(cache, NAME, config, note["version"], note["hash"])


class _OnImport:
    """Waits for the one module of `datasets` that resolves names."""

    def find_spec(self, name: str, path: Any = None, _: Any = None) -> Any:
        if name != _LOADER:
            return None
        from importlib.machinery import PathFinder

        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_serve(module: Any) -> None:
                execute(module)
                _serve(module)

            spec.loader.exec_module = execute_and_serve  # type: ignore[method-assign]
        return spec


def _serve(load: Any) -> None:
    from functools import wraps

    others = load.dataset_module_factory
    if hasattr(others, "serves_installed"):
        return

    @wraps(others)
    def dataset_module_factory(path: str, *args: Any, **kwargs: Any) -> Any:
        if path != NAME or kwargs.get("data_files") or kwargs.get("data_dir"):
            return others(path, *args, **kwargs)
        cache = os.path.expanduser(str(kwargs.get("cache_dir") or load.config.HF_DATASETS_CACHE))
        note = read_note(cache)
        if os.path.isdir(path):  # a folder of that name in this directory, which `datasets` takes for what is meant
            if note is None:
                return others(path, *args, **kwargs)
            _refuse_other_folder(note)
        if note is None:
            raise FileNotFoundError(
                f"nothing is installed under the name {NAME!r} in {cache}; "
                "run `python -m musicrs_dataset install DIRECTORY`"
            )
        return _installed_module(load, cache, note)

    dataset_module_factory.serves_installed = True  # type: ignore[attr-defined]
    load.dataset_module_factory = dataset_module_factory


def _refuse_other_folder(note: dict[str, Any]) -> None:
    """Refuse a folder called musicrs that holds other data than the name was given to."""
    import json

    try:
        with open(os.path.join(NAME, "manifest.json"), encoding="utf-8") as file:
            configs = json.load(file)["configs"]
        is_same = all(configs[config]["fingerprint"] == note["configs"][config] for config in note["configs"])
    except (OSError, ValueError, LookupError, TypeError):
        is_same = False
    if not is_same:
        raise FileNotFoundError(
            f"{os.path.abspath(NAME)}: another dataset than the one installed under the name {NAME!r}; write ./{NAME} "
            f"to load the folder, or install it with `python -m musicrs_dataset install {os.path.abspath(NAME)}`"
        )


def _installed_module(load: Any, cache: str, note: dict[str, Any]) -> Any:
    """Entries that `datasets` needs to read the installed folders."""
    for config in note["configs"]:
        folder = installed_folder(cache, note, config)
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"{folder}: this part of the installed dataset {NAME!r} is gone; install it again with "
                f"`python -m musicrs_dataset install {note['source']}`"
            )
    configs = [load.BuilderConfig(name=config, version=note["version"]) for config in note["configs"]]
    return load.DatasetModule(
        _CACHE_BUILDER,
        note["hash"],
        {"dataset_name": NAME, "version": note["version"]},
        load.BuilderConfigsParameters(builder_configs=configs, default_config_name=note["default"]),
    )
