"""Layouts of answers: how models go through candidates, how they put a ranking, and how they mark their thinking.

Each layout takes entries (identifier, title) in the order that it shows. Comments hold words that headings have, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

Entries = Sequence[tuple[int, str]]
Layout = Callable[[Entries], str]

_COMMENTS = (
    "bright and loud",
    "calm, slow, a good match",
    "not quite what was asked for",
    "perhaps the best of them",
    "too fast; I would leave it out",
    "the final minute is dark",
    "an answer to the first wish",
    "piano (1997), very quiet",
)


def comment(number: int) -> str:
    """Some remark."""
    return _COMMENTS[number % len(_COMMENTS)]


def _lines(line: str) -> Layout:
    return lambda entries: "\n".join(
        line.format(rank=rank, number=number, title=title, comment=comment(number))
        for rank, (number, title) in enumerate(entries, 1)
    )


def _paragraphs(line: str) -> Layout:
    return lambda entries: _lines(line)(entries).replace("\n\n\n", "\n\n")


def _table(head: str, line: str) -> Layout:
    return lambda entries: f"{head}\n{'|---' * (head.count('|') - 1)}|\n{_lines(line)(entries)}"


def _objects(*fields: str) -> Layout:
    def layout(entries: Entries) -> str:
        values = [
            {"id": number, "title": title, "comment": comment(number), "rank": rank, "score": round(1 - rank / 200, 3)}
            for rank, (number, title) in enumerate(entries, 1)
        ]
        return json.dumps([{field: value[field] for field in fields} for value in values], ensure_ascii=False)

    return layout


WALKS: dict[str, Layout] = {
    "echo": _lines("[{number}] {title}"),
    "echo with colon": _lines("[{number}] {title}: {comment}"),
    "dots with dash": _lines("{number}. {title} - {comment}."),
    "brackets with dash": _lines("{number}) {title} – {comment}"),
    "bold dots": _lines("{number}. **{title}** — {comment}"),
    "bullets with numbers": _lines("- [{number}] {title}: {comment}"),
    "bullets with bold": _lines("* **{title}** ({number}): {comment}"),
    "headings": _paragraphs("### {number}. {title}\n{comment}.\n"),
    "bold paragraphs": _paragraphs("**[{number}] {title}**\nThis one is {comment}.\n"),
    "sub-bullets": _lines("{number}. {title}\n   - mood: {comment}\n   - tempo: slow"),
    "plus and minus": _lines("[{number}] {title}\n  + {comment}\n  - rather long"),
    "table": _table("| # | Title | Comment |", "| {number} | {title} | {comment} |"),
    "objects": _objects("id", "title", "comment"),
    "lines apart": lambda entries: "\n\n".join(f"{number}. {title}\n{comment(number)}" for number, title in entries),
    "bold in bold": _lines("**{number}. {title}**: {comment}"),
    "candidate": _lines("Candidate {number} ({title}): {comment}"),
    "bars": _lines("{number} | {title} | {comment}"),
    "yaml": _lines("- id: {number}\n  title: {title}\n  comment: {comment}"),
    "stars and dash": _lines("* {title} — {comment}"),
    "map of titles": lambda entries: json.dumps(
        {title: comment(number) for number, title in entries}, ensure_ascii=False
    ),
    "html table": lambda entries: (
        "<table>"
        + "".join(f"<tr><td>{number}</td><td>{title}</td><td>{comment(number)}</td></tr>" for number, title in entries)
        + "</table>"
    ),
    "comma row": lambda entries: ", ".join(f"[{number}] {title}" for number, title in entries),
    "prose": lambda entries: " ".join(f"[{number}] {title} is {comment(number)}." for number, title in entries),
}
NUMBERED_WALKS: dict[str, Layout] = {
    "numbers with colon": _lines("{number}: {comment}"),
    "words": _lines("Song {number}: {comment}"),
    "brackets alone": _lines("[{number}] {comment}"),
    "map of numbers": lambda entries: json.dumps({str(number): comment(number) for number, _ in entries}),
    "equal signs": lambda entries: ", ".join(f"{number} = {comment(number)}" for number, _ in entries),
    "elements": _lines('<candidate id="{number}">{comment}</candidate>'),
}
TITLED_WALKS: dict[str, Layout] = {
    "bare": _lines("{title}"),
    "bare with colon": _lines("{title}: {comment}"),
    "bullets": _lines("- {title}: {comment}"),
    "bold with dash": _lines("**{title}** – {comment}"),
    "commas": lambda entries: ", ".join(title for _, title in entries),
}

INTROS = (
    "",
    "I go through them first.",
    "Let me look at each candidate before I rank them:",
    "First, some thoughts on every song.",
    "Here are the songs, in the order given:",
    "**Analysis**",
    "To find the best order, I consider one after the other.",
)

FINALS: dict[str, Layout] = {
    "numbered titles": _lines("{rank}. {title}"),
    "numbered titles with reasons": _lines("{rank}. {title} - {comment}"),
    "bold titles": _lines("{rank}. **{title}**"),
    "bold titles with reasons": _lines("{rank}. **{title}**: {comment}"),
    "bullets": _lines("- {title}"),
    "json titles": lambda entries: json.dumps([title for _, title in entries], ensure_ascii=False),
    "json object in a fence": lambda entries: (
        "```json\n" + json.dumps({"ranking": [title for _, title in entries]}, indent=1, ensure_ascii=False) + "\n```"
    ),
    "objects with rank": _objects("rank", "title", "comment"),
    "objects with score": lambda entries: _objects("title", "score")(entries),
    "table of titles": _table("| Rank | Title |", "| {rank} | {title} |"),
    "html list": lambda entries: "<ol>" + "".join(f"<li>{title}</li>" for _, title in entries) + "</ol>",
    "one line": lambda entries: " ".join(f"{rank}. {title}" for rank, (_, title) in enumerate(entries, 1)),
    "arrows": lambda entries: " > ".join(title for _, title in entries),
    "map of ranks": lambda entries: json.dumps({rank: title for rank, (_, title) in enumerate(entries, 1)}),
    "xml items": lambda entries: "<ranking>" + "".join(f"<item>{title}</item>" for _, title in entries) + "</ranking>",
    "ordinals": _lines("#{rank}: {title}"),
}
NUMBERED_FINALS: dict[str, Layout] = {
    "chain": lambda entries: " > ".join(f"[{number}]" for number, _ in entries),
    "chain of numbers": lambda entries: " > ".join(str(number) for number, _ in entries),
    "numbers": lambda entries: ", ".join(str(number) for number, _ in entries),
    "json numbers": lambda entries: json.dumps([number for number, _ in entries]),
    "json strings": lambda entries: json.dumps({"ranking": [str(number) for number, _ in entries]}),
    "floats": lambda entries: json.dumps({"ranking": [float(number) for number, _ in entries]}),
    "ranks": _lines("{rank}. [{number}]"),
    "ranks with titles": _lines("{rank}. [{number}] {title}"),
    "identifiers": _lines("[{number}]"),
    "identifiers with titles": _lines("[{number}] {title}"),
    "table of numbers": _table("| Rank | ID |", "| {rank} | {number} |"),
    "csv": lambda entries: "rank,id\n" + _lines("{rank},{number}")(entries),
    "box": lambda entries: "$\\boxed{" + ", ".join(str(number) for number, _ in entries) + "}$",
    "answer tag": lambda entries: "<answer>" + " > ".join(f"[{number}]" for number, _ in entries) + "</answer>",
    "numbers with titles in brackets": lambda entries: ", ".join(f"{number} ({title})" for number, title in entries),
    "one bracket": lambda entries: "[" + " > ".join(str(number) for number, _ in entries) + "]",
    "call": lambda entries: json.dumps({"name": "rank", "arguments": {"ids": [number for number, _ in entries]}}),
    "records": lambda entries: "\n".join(
        f"- id: {number}\n  score: {1 - rank / 200}" for rank, (number, _) in enumerate(entries)
    ),
    "scores by number": lambda entries: json.dumps(
        {str(number): round(1 - rank / 200, 3) for rank, (number, _) in enumerate(entries)}
    ),
    "map of numbers": lambda entries: json.dumps({rank: number for rank, (number, _) in enumerate(entries, 1)}),
    "numbers in lines": lambda entries: "\n".join(str(number) for number, _ in entries),
    "songs": _lines("{rank}. Song {number}"),
    "ordinals of numbers": _lines("Rank {rank}: {number}"),
}
TITLED_FINALS: dict[str, Layout] = {
    "commas": lambda entries: ", ".join(title for _, title in entries),
    "semicolons": lambda entries: "; ".join(title for _, title in entries),
    "bare": _lines("{title}"),
    "quoted with artist": _lines('{rank}. "{title}" by Some Artist'),
    "scores by title": lambda entries: json.dumps(
        {title: round(1 - rank / 200, 3) for rank, (_, title) in enumerate(entries)}
    ),
}

HEADINGS = (
    "",
    "My ranking:",
    "Ranking",
    "**Final answer:**",
    "Best first:",
    "So this is the order that I suggest:",
    "## Final ranking",
    "Here is my ranking, from best to worst:",
    "Reihenfolge:",
)

# What models say behind their list.
TAILS = (
    "",
    "",
    "Hope this helps!",
    "I left out the others, which do not fit.",
    "Note: [3] was hard to place.",
    "All of them are calm, slow and quiet.",
    "Let me know if you want more!",
)

# Each wraps a draft, which must not be read, and the visible part.
THINKING: dict[str, Callable[[str, str], str]] = {
    "none": lambda _, visible: visible,
    "think": lambda draft, visible: f"<think>\n{draft}\n</think>\n\n{visible}",
    "thinking with attribute": lambda draft, visible: f'<thinking budget="9">{draft}</thinking>{visible}',
    "capitals": lambda draft, visible: f"<THINK>{draft}</THINK>\n{visible}",
    "end alone": lambda draft, visible: f"{draft}\n</think>\n{visible}",
    "reasoning": lambda draft, visible: f"<reasoning>{draft}</reasoning>\n{visible}",
    "seed": lambda draft, visible: f"<seed:think>{draft}</seed:think>{visible}",
    "triangles": lambda draft, visible: f"◁think▷{draft}◁/think▷{visible}",
    "brackets": lambda draft, visible: f"[THINK]{draft}[/THINK]{visible}",
    "start and end": lambda draft, visible: (
        f"<|START_THINKING|>{draft}<|END_THINKING|><|START_RESPONSE|>{visible}<|END_RESPONSE|>"
    ),
    "inner": lambda draft, visible: f"<|inner_prefix|>{draft}<|inner_suffix|>{visible}",
    "channels": lambda draft, visible: (
        f"<|channel|>analysis<|message|>{draft}<|end|><|start|>assistant<|channel|>final<|message|>{visible}<|return|>"
    ),
    "channels without marks": lambda draft, visible: f"analysis{draft}assistantfinal{visible}",
    "phrases": lambda draft, visible: f"Here is my thought process:\n{draft}\n\nHere is my response:\n{visible}",
    "agent": lambda draft, visible: f"Thought: {draft}\nFinal Answer: {visible}",
    "escaped": lambda draft, visible: f"&lt;think&gt;{draft}&lt;/think&gt;\n{visible}",
    "nested": lambda draft, visible: f"<think>{draft}<think>{draft}</think>{draft}</think>\n{visible}",
    "gemma": lambda draft, visible: f"<|channel>thought\n{draft}<channel|>{visible}",
    "ollama": lambda draft, visible: f"Thinking...\n{draft}\n...done thinking.\n\n{visible}",
    "hunyuan": lambda draft, visible: f"<think>\n{draft}\n</think>\n<answer>\n{visible}\n</answer>",
}
