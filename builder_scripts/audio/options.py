"""Options of `audio`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from musicrs_dataset.audio.fetch import options as download
from musicrs_metric.errors import UserError

from ..pipeline.option_command import StageOptions, from_folder_of_settings


def _check_passed_on(entries: Any) -> Any:
    """Check options of yt-dlp. An error shows no value, because a value may be a password."""
    from musicrs_dataset.audio.fetch.yt_dlp_options import parse_yt_dlp_options

    if entries is None:
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError("expected a list of KEY=VALUE")
    try:
        parse_yt_dlp_options(entries)
    except UserError as error:
        raise ValueError(str(error)) from None
    return entries


class AudioOptions(StageOptions):
    """Options of downloads; see `musicrs_dataset.audio.fetch.options` for their help texts."""

    fetch: bool = Field(
        default=True, description="Download from YouTube. --no-fetch only records what is known already."
    )
    cookies: Annotated[download.Cookies, AfterValidator(from_folder_of_settings)] = None
    sleep: Annotated[download.Sleep, Field(ge=0)] = 5.0
    rate: Annotated[download.Rate, Field(ge=1)] = None
    workers: Annotated[download.Workers, Field(ge=1, le=16)] = 1
    max_minutes: Annotated[download.MaxMinutes, Field(ge=0.1)] = None
    max_megabytes: Annotated[download.MaxMegabytes, Field(ge=0.1)] = None
    yt_dlp: Annotated[download.PassedOn, BeforeValidator(_check_passed_on)] = None

    def client_options(self) -> download.FetchOptions:
        """Return the options of the download client.

        Raises:
            UserError: The file of cookies is missing or empty.
        """
        return download.client_options(
            self.cookies, self.sleep, self.rate, self.workers, self.max_minutes, self.max_megabytes, self.yt_dlp
        )
