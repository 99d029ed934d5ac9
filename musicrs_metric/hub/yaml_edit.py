"""Edits of YAML files that other people keep: lists change entry by entry, and every other line stays as it is.

A file that is parsed and written again changes more than its values. YAML 1.1 reads the language code `no` as false,
comments and quotes disappear, and keys move. So the parser only finds the positions here. After an edit the file is
parsed again: if anything but the list has changed, the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from ..errors import UserError

Node = yaml.nodes.Node
SequenceNode = yaml.nodes.SequenceNode
Path = tuple[str | int, ...]
# YAML 1.2, which the Hub reads, takes these texts for numbers. YAML 1.1 does not, so PyYAML writes them without quotes.
_NUMBER_OF_YAML_1_2 = re.compile(r"^([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+)$")
_NULL = "tag:yaml.org,2002:null"


class _Dumper(yaml.SafeDumper):
    """Writer of plain types that quotes each text which YAML 1.1 or 1.2 reads as another type."""


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER_OF_YAML_1_2, list("-+.0123456789"))


def yaml_of(value: Any) -> str:
    """Write plain types as YAML, in their order. A date that is text stays text."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    return text


def compose(text: str) -> Node | None:
    """Return the root node of a YAML text, or None if the text holds only comments.

    Raises:
        UserError: The text is no YAML.
    """
    try:
        node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError(" ".join(str(error).split())[:200]) from error
    return node


def at(node: Node | None, path: Path) -> Node | None:
    """Return the node at a path of keys and positions, or None.

    Raises:
        UserError: A key of the path is there twice.
    """
    for step in path:
        if isinstance(step, int):
            node = node.value[step] if isinstance(node, yaml.SequenceNode) and step < len(node.value) else None
        else:
            entries = node.value if isinstance(node, yaml.MappingNode) else []
            values = [value for key, value in entries if key.value == step]
            if len(values) > 1:
                raise UserError(f"{step} is there {len(values)} times")
            node = values[0] if values else None
    return node


def texts_at(node: Node | None, *paths: Path) -> tuple[str | None, ...]:
    """Return the text of the scalar at each path, or None where there is none."""
    nodes = (at(node, path) for path in paths)
    return tuple(each.value if isinstance(each, yaml.ScalarNode) and each.tag != _NULL else None for each in nodes)


def edit_list(text: str, path: Path, entries: Sequence[Any], replaced: Callable[[Node], bool] = lambda _: False) -> str:
    """Replace entries of a list.

    Args:
        text: The YAML text.
        path: Keys and positions that lead to the list. Its value must be in block style, empty, or null.
        entries: Plain values to add, in the place of the first replaced entry or at the end.
        replaced: True for an entry that the new ones replace. By default none is replaced.

    Returns:
        The text. Lines outside the replaced entries stay, and so do whole-line comments inside them.

    Raises:
        UserError: The list is in another form, or the edit would change something else.
    """
    root = compose(text)
    target = at(root, path)
    if isinstance(target, yaml.SequenceNode) and not (target.flow_style and target.value):
        old: list[Node] = target.value
    elif isinstance(target, yaml.ScalarNode) and target.tag == _NULL:
        old = []
    else:
        raise UserError(f"{_name(path)} is not a list with one entry per line")
    lines = _lines(text)
    dropped = [entry for entry in old if replaced(entry)]
    gone = {number for entry in dropped for number in range(entry.start_mark.line, _last_line(entry) + 1)}
    if dropped:
        place = dropped[0].start_mark.line
    else:
        place = _last_line(target) + 1
        if isinstance(target, yaml.SequenceNode) and target.flow_style:  # []
            line = lines[place - 1]
            rest = line[: target.start_mark.column].rstrip() + line[target.end_mark.column :]
            lines[place - 1] = rest if rest.strip() else ""
    indent = target.start_mark.column if old else _indent(lines[place - 1]) if path else 0
    kept = ["" if i in gone and not line.lstrip().startswith("#") else line for i, line in enumerate(lines)]
    new = "".join([*kept[:place], *_indented(entries, indent, text), *kept[place:]])
    after = compose(new)
    expected = [_shape(entry) for entry in old if entry not in dropped]
    position = old.index(dropped[0]) if dropped else len(old)
    expected[position:position] = [_shape(compose(yaml_of(entry))) for entry in entries]
    if _shape(at(after, path)) != expected or _shape(after, at(after, path)) != _shape(root, target):
        raise UserError(f"{_name(path)} cannot be changed without changing other lines")
    return new


def append_key(text: str, key: str, value: Any) -> str:
    """Add a key at the end of a mapping in block style, or of an empty text.

    Raises:
        UserError: The text holds something else, or the edit would change another key.
    """
    root = compose(text)
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise UserError("it is not a mapping with one key per line")
    added = compose(yaml_of({key: value}))
    newline = _newline(text)
    indent = " " * (root.start_mark.column if root is not None else 0)
    block = "".join(indent + line + newline for line in yaml_of({key: value}).rstrip("\n").split("\n"))
    new = "".join(_lines(text)) + block
    if _shape(compose(new)) != [*(_shape(root) if root is not None else []), *_shape(added)]:
        raise UserError(f"{key} cannot be added without changing other lines")
    return new


def _name(path: Path) -> str:
    return ".".join(map(str, path)) or "the file"


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _lines(text: str) -> list[str]:
    """Split as PyYAML counts lines. The last line ends with a line break."""
    lines = text.splitlines(keepends=True)
    if lines and lines[-1].splitlines()[0] == lines[-1]:
        lines[-1] += _newline(text)
    return lines


def _indent(line: str) -> int:
    """Return the column of the key of a line, behind the dash of a list entry."""
    return len(line) - len(line.lstrip(" -"))


def _indented(entries: Sequence[Any], indent: int, text: str) -> list[str]:
    newline = _newline(text)
    lines = (line for entry in entries for line in yaml_of([entry]).rstrip("\n").split("\n"))
    return [" " * indent + line + newline for line in lines]


def _last_line(node: Node) -> int:
    """Return the number of the last line of a node. Its own end mark can be behind the comments that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    line: int = node.end_mark.line
    return line - 1 if node.end_mark.column == 0 and line > node.start_mark.line else line


def _shape(node: Node | None, hidden: Node | None = None) -> Any:
    """Return tags, keys and texts of a node for a comparison, without one node below it."""
    if node is None or node is hidden:
        return None
    if isinstance(node, yaml.MappingNode):
        return [(_shape(key, hidden), _shape(value, hidden)) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [_shape(value, hidden) for value in node.value]
    return node.tag, node.value
