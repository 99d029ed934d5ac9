"""A dataset by name: the installed one without a look at the network, or one on the Hub."""

from __future__ import annotations

from typing import Any

from .errors import UserError

SPLIT = "test"


def load_named(name: str, config: str) -> Any:
    """Load the one split of a dataset by name.

    Args:
        name: The installed name "musicrs", or a Hub id.
        config: Configuration.

    Returns:
        A `datasets.Dataset`; nothing is decoded yet.

    Raises:
        UserError: No such dataset or configuration, or no network to ask for it.
    """
    import datasets

    # A name without an owner cannot be on the Hub: asking it would only cost the 23 s of a look-up that must fail.
    offline, verbosity = datasets.config.HF_HUB_OFFLINE, datasets.utils.logging.get_verbosity()
    datasets.config.HF_HUB_OFFLINE = offline or "/" not in name
    datasets.utils.logging.set_verbosity_error()  # no remark that the installed data is used, which is what was asked
    try:
        return datasets.load_dataset(name, config, split=SPLIT)
    # OSError: not in the cache, not on the Hub, no network. DatasetsError: files that are no such dataset.
    except (ValueError, OSError, datasets.exceptions.DatasetsError) as error:
        raise UserError(
            f"dataset {name!r}, configuration {config!r}: not found ({first_line(error)}); "
            "install it with `python -m musicrs_dataset build --from ... --out DIR`, or name that DIR"
        ) from error
    finally:
        datasets.config.HF_HUB_OFFLINE = offline
        datasets.utils.logging.set_verbosity(verbosity)


def first_line(error: BaseException) -> str:
    """The first line of what a library says of an error; its name where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]
