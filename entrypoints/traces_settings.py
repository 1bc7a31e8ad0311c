"""The settings of traces."""

from __future__ import annotations

from typing import Final

from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from entrypoints.retention_settings import RetentionSettings
from entrypoints.setting_kinds import Kind, matching, setting, web_address, whole_number

PERCENT_DEFAULT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TracesSettings(RetentionSettings):
    """Where traces go, and how many."""

    traces_url: str | None = setting(
        "The collector that takes traces by OTLP over HTTP; without it there are none. It needs the extra traces.",
        Kind(web_address, "an address such as http://localhost:4318/v1/traces, without query or fragment"),
        None,
    )
    traces_authorization: Secret | None = setting(
        "The value of the Authorization header for the collector.",
        Kind(matching(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*", Secret), "a value such as Bearer 0123abcd, in ASCII"),
        None,
    )
    traces_percent: int = setting(
        "The share of traces that is recorded; a trusted proxy that sends `traceparent` decides for its own.",
        whole_number(1, 100),
        PERCENT_DEFAULT,
    )
