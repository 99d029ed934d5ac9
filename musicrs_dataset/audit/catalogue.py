"""Declarations of the adversaries; `leakage_features` computes their weights."""

from __future__ import annotations

from . import leakage_features as features
from .adversary import Adversary
from .resemblance import resemblance_adversaries, spelling_vectors

ADVERSARIES: tuple[Adversary, ...] = (
    Adversary(
        "random", "chance", "thread",
        "Nothing: it shuffles the pool, and shows how much chance alone varies.",
        features.constant, ties="shuffled",
    ),
    Adversary(
        "frequent first", "pool frequency", "pools",
        "Candidates in many pools of the subreddit come first (the published popularity baseline).",
        features.pool_frequency,
    ),
    Adversary(
        "rare first", "pool frequency", "pools",
        "Candidates in few pools of the subreddit come first.",
        features.reverse(features.pool_frequency),
    ),
    Adversary(
        "rare first, ties shuffled", "pool frequency", "pools",
        "The same, without use of the stored order if counts are equal.",
        features.reverse(features.pool_frequency), ties="shuffled",
    ),
    Adversary(
        "frequent everywhere first", "pool frequency", "pools",
        "Counts over the pools of all subreddits, because some titles appear in several.",
        features.frequency_everywhere,
    ),
    Adversary(
        "rare everywhere first", "pool frequency", "pools",
        "Counts over the pools of all subreddits, lowest first.",
        features.reverse(features.frequency_everywhere),
    ),
    Adversary(
        "frequent title first", "pool frequency", "pools",
        "Counts titles in the pools of the subreddit in any spelling.",
        features.title_frequency,
    ),
    Adversary(
        "others' ground truth last", "other threads' answers", "labels",
        "A relevant candidate of another thread is more likely a distractor here.",
        features.reverse(features.answers_elsewhere), ties="shuffled",
    ),
    Adversary(
        "named in the subreddit last", "other threads' answers", "labels",
        "Distractors are drawn from titles that replies in other threads of the subreddit name.",
        features.reverse(features.named_in_subreddit), ties="shuffled",
    ),
    Adversary(
        "named anywhere last", "other threads' answers", "labels",
        "The same with the replies of the other threads of all subreddits.",
        features.reverse(features.named_anywhere), ties="shuffled",
    ),
    Adversary(
        "long first", "string form", "thread",
        "Relevant candidates and distractors may differ in length.",
        features.length,
    ),
    Adversary(
        "quoted first", "string form", "thread",
        "Relevant candidates and distractors may differ in the quotes left in them.",
        features.quoted,
    ),
    Adversary(
        "capitals first", "string form", "thread",
        "Relevant candidates and distractors may differ in the share of words with a capital.",
        features.capitals,
    ),
    Adversary(
        "lower case first", "string form", "thread",
        "Relevant candidates and distractors may differ in having no capital.",
        features.lower_case,
    ),
    Adversary(
        "stored order", "place in the pool", "thread",
        "The pool may not have been shuffled.",
        features.position,
    ),
    Adversary(
        "stored order, last first", "place in the pool", "thread",
        "The pool may not have been shuffled.",
        features.reverse(features.position),
    ),
    Adversary(
        "named in the query", "named by the asker", "thread",
        "The query may name a relevant candidate: titles of 5 characters or more in the query come first.",
        features.named_in_query,
    ),
    Adversary(
        "words of the asker's titles", "named by the asker", "thread",
        "Candidates that share words with a title in the post come first.",
        features.submission_words,
    ),
    Adversary(
        "second spellings first", "second spellings", "thread",
        "A title that appears twice in one pool, in two spellings, may show that it is relevant.",
        features.second_spelling,
    ),
    Adversary(
        "left-over answers first", "left-over answers", "labels",
        "Candidates that count as distractors, although the thread's own replies name them, come first.",
        features.left_over,
    ),
    *resemblance_adversaries(spelling_vectors, "in spelling"),
    Adversary(
        "small groups first", "size of groups", "pools",
        "Distractors may come in whole sets: candidates in the same pools form a group, and small groups come first.",
        features.reverse(features.group_size), ties="shuffled",
    ),
    Adversary(
        "large groups first", "size of groups", "pools",
        "The same, with large groups first.",
        features.group_size, ties="shuffled",
    ),
)  # fmt: skip
