"""Texts and files follow the rules of CONTRIBUTING.md: docstrings, plain words, and no file without an importer.

Each failure names file and line, so that the list can be worked through.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("musicrs_dataset", "musicrs_metric", "baselines", "space", "builder_scripts")
FIRST_WORDS = {"What", "How", "Where", "Whether", "Who", "Which"}

# Words that this project replaces by plain ones, as patterns, each with the word to write.
PLAIN_WORDS = {
    r"tells?|told|telling": "report, print, state, show",
    r"stands?|stood": "is, appears, is listed",
    r"lies?|lain": "is, is stored",
    r"hears?|heard|hearing|ears|listens?(?! on\b)": "takes audio, audio used",
    r"beside": "with, next to, in addition to",
    r"nobody|somebody|everybody|whoever|whatever": "the role of the person, or the thing",
    r"go(?:es)? on": "continues, resumes",
    r"mend(?:s|ed)?": "fix, repair",
    r"anew": "again, rebuild",
    r"bears?": "handle, support",
    r"hands? (?:on|over)": "send, pass",
    r"(?:becomes?|became) of": "status, result",
    r"c[ao]mes? to": "amount to, result in",
    r"whence": "from where",
    r"made dumps": "synthetic dumps",
    r"in silence": "silently, without a message",
    r"(?:take|taking) \w*\s?home": "download, export",
    r"passed over": "skipped",
    r"left out": "excluded",
    r"of it|of which|that there are": "the noun itself",
    r"the making": "the pipeline",
    r"(?:is|are) to(?= [a-z]+\b)": "must, will, should",
    r"(?<!-)(?<!e-mail )(?<!IP )(?<!network )address(?:es)?": "URL",
    r"odd|odd(?:ity|ities)": "suspicious, diagnostic",
    r"likewise|further|at last": "also, other, finally",
    r"\d+ an? (?:second|minute|hour|day|thread)": "per second, per thread",
}
_PLAIN = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), word) for pattern, word in PLAIN_WORDS.items()]
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+")

# Files that programs outside this tree start by name or by path.
ENTRIES = {
    "musicrs_dataset/musicrs.py": "`datasets` 3.6 loads it as a script",
    "musicrs_metric/musicrs.py": "`evaluate` loads it",
    "musicrs_metric/app.py": "the front of a metric Space",
    "musicrs_dataset/mteb/tasks.py": "users of mteb import it",
    "musicrs_dataset/mteb/statistics.py": "a command of the environment of mteb",
    "musicrs_metric/convert/mteb.py": "`readers.READERS` names it",
    "musicrs_metric/inspect/_registry.py": "Inspect finds it by the entry point",
    "musicrs_metric/base/name_hook.py": "`install` copies it into site-packages",
}


class Fault(NamedTuple):
    """A place that breaks a rule."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.text}"


def sources(*folders: str) -> list[Path]:
    """Python files of some folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """A file, parsed once for all tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def report(faults: Iterable[Fault]) -> None:
    """Fail with one line per fault."""
    lines = [str(fault) for fault in faults]
    assert not lines, f"{len(lines)} faults:\n" + "\n".join(lines)


@pytest.mark.parametrize("folder", [*ROOMS, "benchmarks", "docs"])
def test_docstrings_start_with_a_verb_or_a_noun(folder: str) -> None:
    """A docstring says what a function returns or does; it is no indirect question."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    report(
        Fault(path, getattr(node, "lineno", 1), text.splitlines()[0])
        for path in sources(folder)
        for node in ast.walk(tree_of(path))
        if isinstance(node, kinds) and (text := ast.get_docstring(node)) and text.split()[0] in FIRST_WORDS
    )


def prose(path: Path, section: str | None = None) -> Iterator[tuple[int, str]]:
    """Lines of a Markdown file with their numbers, without code, links' targets and front matter.

    Args:
        path: The file.
        section: Start of a heading of level 2; None for the whole file.
    """
    in_code = in_front_matter = False
    in_section = section is None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line == "---" and (number == 1 or in_front_matter):
            in_front_matter = not in_front_matter
        elif line.lstrip().startswith("```"):
            in_code = not in_code
        elif section is not None and line.startswith("## "):
            in_section = line.startswith(f"## {section}")
        elif in_section and not in_code and not in_front_matter:
            yield number, _CODE.sub("`", line)


def plain_words(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[Fault]:
    """Words of a text that a plain word replaces."""
    for number, line in lines:
        for pattern, word in _PLAIN:
            if found := pattern.search(line):
                yield Fault(path, number, f"{found[0]!r}, write: {word}")


def documents() -> list[str]:
    """Names of the documents for users."""
    pages = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", "CONTRIBUTING.md", *(f"{room}/README.md" for room in ("musicrs_metric", "space")), *pages]


@pytest.mark.parametrize("name", documents())
def test_documents_use_plain_words(name: str) -> None:
    """No word of the list is in a document; code and names of files are no words."""
    report(plain_words(ROOT / name, prose(ROOT / name)))


def test_the_changelog_uses_plain_words() -> None:
    """Entries since 0.2.0; older entries stay as they were."""
    path = ROOT / "CHANGELOG.md"
    lines = list(prose(path, "0.2.0"))
    assert len(lines) > 20
    report(plain_words(path, lines))


def help_texts(command: Any, context: Any, name: str) -> Iterator[tuple[str, Any, str]]:
    """The help texts of a command and of those in it: name, function, text."""
    yield name, command.callback, command.help or ""
    for parameter in command.params:
        if text := getattr(parameter, "help", None):
            yield f"{name} {parameter.opts[0]}", command.callback, text
    for child_name, child in getattr(command, "commands", {}).items():
        yield from help_texts(child, context, f"{name} {child_name}")


@pytest.mark.parametrize("room", ROOMS)
def test_help_texts_use_plain_words(room: str) -> None:
    """No word of the list is in the help of a command or of an option."""
    from typer.main import get_command

    app = get_command(importlib.import_module(f"{room}.cli").app)
    faults = [
        f"{room}: {name}: {found[0]!r} in {text!r}, write: {word}"
        for name, _, text in help_texts(app, None, room)
        for pattern, word in _PLAIN
        if (found := pattern.search(_CODE.sub("`", text)))
    ]
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)


def module_of(path: Path) -> str:
    """Dotted name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(path: Path) -> set[str]:
    """Dotted names that a file imports, or names in a string such as `package.module:Class`."""
    package = module_of(path).split(".") if path.stem == "__init__" else module_of(path).split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.update(match[0] for match in re.finditer(r"\b[a-z_]+(?:\.[a-z0-9_]+)+", node.value))
    return names


def test_every_file_has_an_importer() -> None:
    """A product file that no product file imports is unused, or belongs to the tests."""
    files = [path for path in sources(*ROOMS) if path.stem not in ("__init__", "__main__", "cli")]
    imports = {path: imported_by(path) for path in sources(*ROOMS, "benchmarks")}
    report(
        Fault(path, 1, "no product file imports it")
        for path in files
        if path.relative_to(ROOT).as_posix() not in ENTRIES
        and not any(module_of(path) in names for other, names in imports.items() if other != path)
    )


@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_exist(entry: str) -> None:
    """The list of files that other programs start has no stale name."""
    assert (ROOT / entry).is_file()


def test_the_fast_tests_exist() -> None:
    """`make test-fast` runs the files of this list."""
    names = (ROOT / "tests" / "fast.txt").read_text(encoding="utf-8").split()
    assert [name for name in names if not (ROOT / name).is_file()] == []
