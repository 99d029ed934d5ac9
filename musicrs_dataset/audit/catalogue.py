"""The adversaries of the audit: declarations only; what they weigh is in `tells`."""

from __future__ import annotations

from . import leakage_features as tells
from .adversary import Adversary

ADVERSARIES: tuple[Adversary, ...] = (
    Adversary(
        "random", "chance", "thread",
        "Nothing: it shuffles the pool, and shows how far chance alone strays.",
        tells.nothing, ties="shuffled",
    ),
    Adversary(
        "frequent first", "pool frequency", "pools",
        "What stands in many pools of the subreddit goes first (the published popularity baseline).",
        tells.pool_frequency,
    ),
    Adversary(
        "rare first", "pool frequency", "pools",
        "What stands in few pools of the subreddit goes first.",
        tells.reverse(tells.pool_frequency),
    ),
    Adversary(
        "rare first, ties shuffled", "pool frequency", "pools",
        "As before, without leaning on the stored order where counts are equal.",
        tells.reverse(tells.pool_frequency), ties="shuffled",
    ),
    Adversary(
        "frequent everywhere first", "pool frequency", "pools",
        "Counts over the pools of all subreddits, since some titles stand in several.",
        tells.frequency_everywhere,
    ),
    Adversary(
        "rare everywhere first", "pool frequency", "pools",
        "Counts over the pools of all subreddits, fewest first.",
        tells.reverse(tells.frequency_everywhere),
    ),
    Adversary(
        "frequent title first", "pool frequency", "pools",
        "Counts titles in the pools of the subreddit whatever their spelling.",
        tells.title_frequency,
    ),
    Adversary(
        "others' ground truth last", "other threads' answers", "labels",
        "What is the answer to another thread is more likely a distractor here.",
        tells.reverse(tells.answers_elsewhere), ties="shuffled",
    ),
    Adversary(
        "named in the subreddit last", "other threads' answers", "labels",
        "Distractors are drawn from what the other threads of the subreddit name in their replies.",
        tells.reverse(tells.named_in_subreddit), ties="shuffled",
    ),
    Adversary(
        "named anywhere last", "other threads' answers", "labels",
        "The same with the replies of the other threads of all subreddits.",
        tells.reverse(tells.named_anywhere), ties="shuffled",
    ),
    Adversary(
        "long first", "string form", "thread",
        "Answers and distractors may differ in length.",
        tells.length,
    ),
    Adversary(
        "quoted first", "string form", "thread",
        "Answers and distractors may differ in the quotes left in them.",
        tells.quoted,
    ),
    Adversary(
        "capitals first", "string form", "thread",
        "Answers and distractors may differ in the share of words with a capital.",
        tells.capitals,
    ),
    Adversary(
        "lower case first", "string form", "thread",
        "Answers and distractors may differ in being written without any capital.",
        tells.lower_case,
    ),
    Adversary(
        "stored order", "place in the pool", "thread",
        "The pool may not have been shuffled.",
        tells.place,
    ),
    Adversary(
        "stored order, last first", "place in the pool", "thread",
        "The pool may not have been shuffled.",
        tells.reverse(tells.place),
    ),
    Adversary(
        "named in the query", "named by the asker", "thread",
        "The query may name its own answer: titles of 5 characters or more that stand in it go first.",
        tells.named_in_query,
    ),
    Adversary(
        "words of the asker's titles", "named by the asker", "thread",
        "What shares words with a title that the asker named goes first.",
        tells.submission_words,
    ),
    Adversary(
        "second spellings first", "second spellings", "thread",
        "A title that stands twice in one pool, in two spellings, gives itself away.",
        tells.second_spelling,
    ),
    Adversary(
        "left-over answers first", "left-over answers", "labels",
        "Puts first what the thread's own replies name and its ground truth lacks: right answers that count as wrong.",
        tells.left_over,
    ),
)  # fmt: skip
