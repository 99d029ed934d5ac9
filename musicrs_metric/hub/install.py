"""Installation of the metric, so that `evaluate.load("musicrs")` works offline from any directory."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "musicrs.py"
_NAME = "evaluate-metric--musicrs"
_SPACE_FILES = ("README.md", "app.py", "requirements.txt")


def module_files() -> list[Path]:
    """Return the script and the siblings that it names in lines `from .x import`, as `evaluate` reads them."""
    names = re.findall(r"^from \.(\w+) import", SCRIPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [SCRIPT, *(SCRIPT.with_name(f"{name}.py") for name in names)]


def install_metric(modules_cache: str | Path | None = None) -> Path:
    """Install this version of the metric under the name "musicrs", and remove older versions.

    Args:
        modules_cache: Folder in which `evaluate` stores modules; None for its default (HF_MODULES_CACHE, HF_HOME).

    Returns:
        The folder of the script and its siblings. Its name is the sha256 of their content.
    """
    files = module_files()
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
    home = Path(modules_cache or _modules_cache()) / "evaluate_modules" / "metrics" / _NAME
    home.mkdir(parents=True, exist_ok=True)
    target = home / digest
    if not target.is_dir():
        # A reader sees the whole folder or none: the loader takes any folder there whose name has 64 characters.
        partial = Path(tempfile.mkdtemp(dir=home, prefix=".partial-"))
        for file in files:
            shutil.copyfile(file, partial / file.name)
        partial.chmod(0o755)
        try:
            partial.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(partial, ignore_errors=True)
    for other in home.iterdir():
        if len(other.name) == len(digest) and other != target:
            shutil.rmtree(other, ignore_errors=True)
    return target


def export_space(folder: str | Path) -> list[Path]:
    """Write the folder of a metric Space: card, app, requirements, script and siblings.

    Args:
        folder: The folder to write.

    Returns:
        The files written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files = [*module_files(), *(SCRIPT.with_name(name) for name in _SPACE_FILES)]
    return [Path(shutil.copyfile(file, target / file.name)) for file in files]


def _modules_cache() -> str:
    evaluate = sys.modules.get("evaluate")
    if evaluate is not None:
        return str(evaluate.config.HF_MODULES_CACHE)
    # The rule of evaluate.config, written out because importing it takes seconds where torch is installed.
    cache = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    home = os.path.expanduser(os.getenv("HF_HOME", cache))
    return os.getenv("HF_MODULES_CACHE", os.path.join(home, "modules"))
