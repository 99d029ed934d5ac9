"""Headings: lines that call the list below them a ranking, a draft or a walk through the candidates.

A clause that only announces a later list ("before I rank them", "to find the best order") does not count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

# "final" also stands for corrections; "more" for the next part of a list; "remark" for explanations and alternatives.
Purpose = Literal["final", "ranking", "more", "draft", "walk", "excluded", "remark"]

_LONGEST = 400  # characters of a line
_HEADING_LINES, _MOST_WORDS_BETWEEN = 3, 12


class Heading(NamedTuple):
    """Text in front of a list.

    Attributes:
        purpose: Kind of the list by this text; None if the text does not say.
        is_explicit: Whether it is a heading. A sentence may be about something else.
        is_worst_first: Whether it says that the list begins with the candidate that fits worst.
    """

    purpose: Purpose | None
    is_explicit: bool
    is_worst_first: bool


NO_HEADING = Heading(None, False, False)

_ANNOUNCED = re.compile(
    r"\b(?:before|prior to|and then|then(?= (?:i|we|rank|give|order))|in order to|so that|until|to (?:rank|order"
    r"|sort|determine|find|decide"
    r"|make|give|produce|build|create|establish|come up|arrive|derive|figure|get|form|see|reach|provide"
    r"|help))\b[^,.;:!?\n]*",
    re.IGNORECASE,
)
# The order in which something was given is nobody's ranking.
_GIVEN_ORDER = re.compile(
    r"\b(?:order (?:(?:they|it|you) (?:are|were|is|was) )?(?:given|listed|provided|shown|presented"
    r"|of (?:appearance|the (?:list|prompt|question|pool)))"
    r"|(?:in|by) (?:the )?(?:order|sequence) (?:given|listed|provided|shown|presented|you|they|in which)"
    r"|(?:given|original|listed|same|alphabetical|random|no particular|input|prompt|pool|presented) order"
    r"|as listed|unranked list)\b",
    re.IGNORECASE,
)
_OF_SONGS = re.compile(
    r"\b(?:of|for|with) (?:all |the |these |those |your |\d+ ){0,4}(?:songs|titles|tracks|works|pieces|items"
    r"|candidates|options)\b",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final(?:ly|ized|ised)?|answer|best first|best to worst|most to least|corrected|correction"
    r"|correct (?:\w+ )?(?:ranking|order|list|answer)"
    r"|revised|updated|improved|amended|adjusted|fixed|on second thought|second thoughts|wait|actually"
    r"|scratch that|let me (?:correct|revise|redo|re-?rank|fix|re-?order)"
    r"|re-?ranked|re-?ordered|re-?ranking|in conclusion|conclusion|therefore|thus|hence|should (?:instead )?be"
    r"|verdict|submission|result(?:ing|s)?"
    r"|endgültig\w*|antwort|endergebnis|réponse|respuesta|risposta|resposta)\b|最终|最後|最后|答案|回答|結論|结论|최종|정답|ответ|итог",
    re.IGNORECASE,
)
_DRAFT = re.compile(
    r"\b(?:draft|initial(?:ly)?|first (?:thoughts?|guess|impression|pass|attempt|try|idea|instinct|version|cut"
    r"|ranking|take|sketch)|at first|preliminary"
    r"|rough(?:ly)?|tentative(?:ly)?|provisional|original(?:ly)? (?:ranking|list|order|i)|previous(?:ly)?|earlier"
    r"|old (?:ranking|order|list)"
    r"|brainstorm\w*|scratch(?:pad)?|not (?:yet )?(?:my |the |a )?final|thinking|entwurf|brouillon|borrador)\b|草稿"
    r"|初步|初稿|下書き",
    re.IGNORECASE,
)
_DRAFT_ANSWER = re.compile(
    r"\b(?:initial|first|preliminary|rough|draft|tentative|previous|earlier|old|original) (?:\w+ )?(?:answer"
    r"|ranking|order|list|result|version)\b"
    r"(?!.*\b(?:wrong|should|instead|correct\w*|revis\w*|updat\w*|but)\b)",
    re.IGNORECASE,
)
_EXCLUDED = re.compile(
    r"\b(?:(?:left|leave|leaving) (?:\w+ )?out|exclud\w*|omit\w*|not (?:included|ranked|relevant|recommended"
    r"|considered|suitable|chosen|selected|a (?:good )?match)"
    r"|(?:do|does|did)(?:n['’]t| not) (?:fit|match|suit|include|rank|make)|unranked|rejected|skipp\w+|discard\w*"
    r"|irrelevant|no match|ignored|dropped|avoid\w*"
    r"|ruled out|eliminated|disqualified|worst (?:fits?|match(?:es)?) \(not)\b|不推荐|排除",
    re.IGNORECASE,
)
_RANK = re.compile(
    r"\b(?:rank(?:s|ing|ings|ed)?|order(?:ed|ing)?|sort(?:ed|ing)?|best|top(?:\s?\d+)?|recommend\w*|list|picks?"
    r"|choices?|selection|playlist|sequence"
    r"|here(?:['’]s| is| are)|as follows|most (?:relevant|suitable|fitting|likely|similar)|rangliste|rangfolge"
    r"|reihenfolge|sortiert|classement|ordre|clasificaci[oó]n|orden"
    r"|classifica|ordine|classifica[cç][aã]o|ordem)\b|排名|排序|排列|顺序|推荐|順位|ランキング|おすすめ|순위|рейтинг|порядок",
    re.IGNORECASE,
)
_WALK = re.compile(
    r"\b(?:go(?:ing)? (?:through|over)|went through|walk\w*|run(?:ning)? through|look(?:ing)? at|analy[sz]\w*"
    r"|analysis|consider(?:ing|ed|ations?)?|evaluat\w*|assess\w*|review\w*"
    r"|describ\w*|descriptions?|examin\w*|discuss\w*|one by one|one at a time|step by step|in turn|by (?:song"
    r"|title|track|candidate|number)|thoughts|notes|impressions"
    r"|candidates?|options?|available|given|pool|possib\w+|overview|inventory|input|characteri[sz]\w*|compar\w+"
    r"|list of (?:songs|titles|tracks|candidates)"
    r"|(?:the|all|these|following|\d+) (?:songs|titles|tracks|works|pieces|items)|check\w*|what (?:i|we) know"
    r"|durchgehen|der reihe nach|kandidaten|un par un)\b|逐一|候选|分析|候補|一つずつ|후보",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:continu\w*|next|then|rest|remaining|remainder|lower|tiers?|group|part \w+|least|less|followed by"
    r"|honou?rable|bottom|middle|mid|second half|first half|others?"
    r"|ranks? \d+|places? \d+|also|after that|second(?:ly)?|third(?:ly)?|fourth|fifth|sixth|seventh|eighth|ninth"
    r"|tenth|lastly|last|secondary|medium|low|weaker|moderate\w*|good|fair|poor|\d+\s?(?:[-–—]|to|through)\s?\d+"
    r"|weiter|suite)\b|其余|其次|其他|続き",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(
    r"\b(?:if you|e\.g|for (?:example|instance)|let me know|alternativ\w*|such as|would you"
    r"|feel free)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\b(?:explanations?|explain\w*|reason(?:s|ing)?|why|because|notes?|justif\w*|rationale|comments?|details?"
    r"|key|criteria|bonus|you (?:may|might|could)"
    r"|instead of|similar|highlights|observations?|factors|features|themes?|mood|begründung|erklärung"
    r"|explication)\b|理由|说明|解释",
    re.IGNORECASE,
)
_WORST_FIRST = re.compile(
    r"\b(?:worst|least (?:\w+ )?(?:suitable|relevant|fitting|likely|similar|preferred)?)\s?(?:first\b|(?:to|→"
    r"|->) (?:the )?(?:best|most))|\bascending order of (?:fit|relevance|suitability)",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:(?:final|my|the|correct(?:ed)?|revised|overall|resulting|proper|updated|new) (?:\w+ ){0,2}(?:ranking"
    r"|order|answer|list)"
    r"(?: (?:is|would be|should be|looks?|follows|below|becomes|now|again|of the|that|with|from|by|as|based)"
    r"|(?=\W*$))"
    r"|here (?:is|are)|here['’]s|on second thought|wait|actually|scratch that|go(?:ing)? through|one by one"
    r"|as follows|best first"
    r"|(?:from )?best to worst|let me|let['’]s|rank them|i (?:would |will |['’]d |['’]ll )?(?:now )?rank)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:\*\*|__)[^*\n]{1,100}(?:\*\*|__)\s*$)")
_SHORT = 3  # words


def purpose(line: str) -> Purpose | None:
    """Meaning of a heading, of a key of an object or of the text in front of a list.

    Args:
        line: One line of text; only its end counts where it is long.
    """
    if _BY_THE_WAY.search(line[-_LONGEST:]):
        return "remark"
    text = _ANNOUNCED.sub(" ", line[-_LONGEST:].replace("_", " "))
    text = _OF_SONGS.sub(" ", text)
    given = _GIVEN_ORDER.sub(" ", text)
    if given != text:
        return "walk"
    if _DRAFT_ANSWER.search(text):
        return "draft"
    if _FINAL.search(text):
        return "final"
    if _DRAFT.search(text):
        return "draft"
    if _EXCLUDED.search(text):
        return "excluded"
    rank, walk = _last(_RANK, text), _last(_WALK, text)
    if walk > rank:
        return "walk"
    if _MORE.search(text) and (rank < 0 or not re.search(r"\b(?:best|top)\b", text, re.IGNORECASE)):
        return "more"
    if rank >= 0:
        return "ranking"
    return "remark" if _REMARK.search(text) else None


def line_purpose(line: str) -> Purpose | None:
    """The purpose of a line in front of a list: of headings, and of sentences that speak of a list."""
    return purpose(line) if is_heading(line) or _STRONG.search(line[-_LONGEST:]) else None


def is_heading(line: str) -> bool:
    """Check whether a line may be a heading: it ends in a colon, is bold or marked, or has at most three words."""
    text = line.rstrip(" \t*_")
    short = len(text.split()) <= _SHORT and text[-1:] not in ".!?,;"
    return text.endswith((":", "：")) or _HEADING.match(line) is not None or short


def heading_of(before: Sequence[str]) -> Heading:
    """The last line in front of a list that says what it is.

    Args:
        before: The lines since the item before; only the last ones count, and a long sentence ends the search.
    """
    found = NO_HEADING
    for line in reversed(before[-_HEADING_LINES:]):
        says = line_purpose(line)
        if found.purpose is None and says is not None:
            found = Heading(says, is_heading(line), is_worst_first(line))
        elif says == "final" and found.purpose == "ranking":
            return found._replace(purpose="final")
        if len(line.split()) > _MOST_WORDS_BETWEEN:
            break
    return found


def is_worst_first(line: str) -> bool:
    """Check whether a line says that the list below it starts with what suits least."""
    return _WORST_FIRST.search(line[-_LONGEST:]) is not None


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)
