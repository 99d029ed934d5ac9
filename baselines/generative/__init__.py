"""Language models, and the protocols that ask them for rankings.

    audio_limits         limits of the audio input of a model, declared
    audio_fit            amount of audio per thread, fitted to these limits before the run
    language_model       what a protocol may ask of a model
    transformers_model   models that transformers runs in this process; server_model for models behind a server
    packed               many continuations of one prompt in one forward pass
    trie                 the next allowed tokens, if an answer must list candidates
    protocols            ways to ask; `musicrs_metric.answers` holds the prompts and reads the answers
    system               a system of the runner made of model and protocol
    families             code that several models share

A new model is a file in `baselines.systems` like `qwen2_audio`, a line in `baselines.registry`, and a test that calls
the checks of `tests.baselines.family_checks` with a tiny checkpoint.
"""
