"""Language models that hear, and the protocols under which they are asked to rank.

    ears       what a model hears, declared
    fitting    how much of a dataset's clips it is given, so that nothing is cut in silence
    prompts    the words, as data; protocols ask with them, reading makes rankings of what comes back
    listener   what a protocol may ask of a model; local is one that transformers runs here, server one elsewhere
    packed     many continuations of one prompt in one forward pass
    trie       which token may come next, where an answer has to list candidates
    system     all of it as a system of the runner; a family adds a listener and a declaration
    families   what several families share

A new family is a file in `baselines.systems` like `qwen2_audio`, a line in `baselines.registry`, and a test that calls
the checks of `tests.baselines.family_checks` with a tiny checkpoint.
"""
