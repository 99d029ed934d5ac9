"""`gold/merges.csv`: spellings that count as one title. A rule writes the file, and people may change it.

Columns: `kind`, `name` (the rarer spelling), `as` (the new spelling), `alike` (similarity in %), `threads` and
`threads_as` (number of threads with each spelling), `decision` (`merge` or `keep`). A person changes `decision` or
`as`, or adds lines, and runs `refine` again. The lines of the file always count. The rule only adds lines for titles
without a line. Delete the file to start again.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from musicrs_metric.base.files import replacing
from musicrs_metric.base.text import csv_line, unguarded
from musicrs_metric.errors import UserError, show
from musicrs_metric.matching import normalise

from ..extract.mentions import KINDS, Kind
from ..extract.text_matching import folded
from .spellings import ALIKE, Decision, likeness, marks

_DECISIONS: dict[str, Decision] = {"merge": "merge", "keep": "keep"}
COLUMNS = ("kind", "name", "as", "alike", "threads", "threads_as", "decision")
Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Merge:
    """One line of the file.

    Attributes:
        kind: Kind of both titles.
        name: The rarer spelling.
        into: The new spelling.
        alike: Share of common letters in %. None if a person has added the line.
        decision: Merge the spellings, or keep both.
    """

    kind: Kind
    name: str
    into: str
    alike: float | None
    decision: Decision

    @property
    def key(self) -> Key:
        """Kind and normal form of the rarer spelling."""
        return self.kind, normalise(self.name)

    @property
    def target(self) -> Key:
        """Kind and normal form of the new spelling."""
        return self.kind, normalise(self.into)


class Spellings:
    """Final spelling of each title.

    Args:
        threads: Number of threads by kind and spelling.
        merges: The lines of the file, at most one per title.

    Raises:
        UserError: The lines form a circle.
    """

    def __init__(self, threads: Mapping[tuple[Kind, str], int], merges: Iterable[Merge]) -> None:
        merges = [merge for merge in merges if merge.decision == "merge"]
        self._into = {merge.key: merge.target for merge in merges if merge.key != merge.target}
        # A spelling in the file takes precedence over the most frequent one.
        self._spelling = _most_frequent(threads) | {merge.target: merge.into for merge in merges}
        for key in self._into:
            self._final(key)

    def __call__(self, kind: Kind, name: str) -> str:
        """Return the final spelling of a title: by its line, or else the most frequent one of its normal form."""
        return self._spelling.get(self._final((kind, normalise(name))), name)

    def _final(self, key: Key) -> Key:
        visited: set[Key] = set()
        while key in self._into:
            if key in visited:
                raise UserError(f"merges form a circle at {key[0]} {show(key[1])}; change one of their lines to keep")
            visited.add(key)
            key = self._into[key]
        return key


def propose(
    threads: Mapping[tuple[Kind, str], int], known: Sequence[Merge], track: Callable[[list[Key]], Iterable[Key]] = iter
) -> Iterator[Merge]:
    """Find titles that are near duplicates of more frequent ones.

    Args:
        threads: Number of threads by kind and spelling.
        known: Lines of the file. Their titles are not compared again.
        track: Shows progress.

    Yields:
        At most one line per title, with its most similar more frequent title. Frequent titles come first. A merged
        title is no target for others, so that no line of the rule leads to another.
    """
    from rapidfuzz import fuzz, process

    by_form, common = _by_form(threads), _most_frequent(threads)
    decided = {merge.key: merge.decision for merge in known}
    targets: dict[tuple[Kind, tuple[str, ...]], dict[str, str]] = defaultdict(dict)
    for key in track(sorted(common, key=lambda key: (-by_form[key], key))):
        kind, name, form = key[0], common[key], folded(common[key])
        among = targets[kind, marks(form)]
        decision = decided.get(key)
        if decision is None and form:
            best = process.extractOne(form, among.keys(), scorer=fuzz.ratio, score_cutoff=ALIKE)
            alike = best and likeness(name, among[best[0]])
            if best and alike:
                yield Merge(kind, name, among[best[0]], *alike)
                decision = alike.decision
        if decision != "merge" and form:
            among.setdefault(form, name)


def write_merges(path: Path, merges: Iterable[Merge], threads: Mapping[tuple[Kind, str], int]) -> None:
    """Write the file in one step, with the number of threads of each title."""
    by_form = _by_form(threads)
    with replacing(path) as file:
        file.write(csv_line(COLUMNS))
        for merge in merges:
            alike = "" if merge.alike is None else f"{merge.alike:g}"
            n, n_into = by_form[merge.key], by_form[merge.target]
            file.write(csv_line((merge.kind, merge.name, merge.into, alike, n, n_into, merge.decision)))


def read_merges(path: Path) -> list[Merge]:
    """Read the file, also after a spreadsheet has saved it.

    Returns:
        The lines. None if there is no file.

    Raises:
        UserError: A line has another form, or two lines are about one title.
    """
    if not path.exists():
        return []
    try:
        text = path.read_bytes().decode("utf-8-sig")  # line ends inside titles stay as they are
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start}); save it as CSV in UTF-8") from error
    with io.StringIO(text, newline="") as file:
        lines = csv.DictReader(file)
        missing = [name for name in ("kind", "name", "as", "decision") if name not in (lines.fieldnames or ())]
        if missing:
            raise UserError(f"{path}: no column {missing[0]!r}; expected {', '.join(COLUMNS)}")
        merges: dict[Key, Merge] = {}
        for line in lines:
            where = f"{path}, line {lines.line_num}"
            merge = _merge(line, where)
            if merges.setdefault(merge.key, merge) is not merge:
                raise UserError(f"{where}: a second line about {merge.kind} {show(merge.name)}; expected one")
    return list(merges.values())


def _merge(line: Mapping[str, str | None], where: str) -> Merge:
    kind, decision = line["kind"], _DECISIONS.get(line["decision"] or "")
    name, into = (unguarded((line[column] or "").strip()) for column in ("name", "as"))
    if kind not in KINDS:
        raise UserError(f"{where}: kind is {show(kind)}, expected one of {', '.join(KINDS)}")
    if decision is None:
        raise UserError(f"{where}: decision is {show(line['decision'])}, expected merge or keep")
    if not normalise(name) or not normalise(into):
        raise UserError(f"{where}: {'name' if normalise(into) else 'as'} is empty, expected a title")
    try:
        alike = float(line.get("alike") or "")
    except ValueError:
        alike = None
    return Merge(kind, name, into, alike, decision)


def _by_form(threads: Mapping[tuple[Kind, str], int]) -> Counter[Key]:
    total: Counter[Key] = Counter()
    for (kind, name), n in threads.items():
        total[kind, normalise(name)] += n
    return total


def _most_frequent(threads: Mapping[tuple[Kind, str], int]) -> dict[Key, str]:
    """Return the most frequent spelling of each normal form. On ties, capitals come first, then code order."""
    best: dict[Key, str] = {}
    for kind, name in sorted(threads, key=lambda key: (-threads[key], key[1] == key[1].lower(), key[1])):
        best.setdefault((kind, normalise(name)), name)
    return best
