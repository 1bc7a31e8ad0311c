"""The overview of the platform: when nothing waits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.platform.overview import PlatformNumbers, PlatformOverview

SIGN_INS: Any = object()
NUMBERS = PlatformNumbers(figures=None, organizations={}, mails={}, new_users=0, sign_ins=SIGN_INS)
QUIET = PlatformOverview(
    waiting=[],
    waiting_total=0,
    alerts=[],
    alerts_total=0,
    failed_mails=[],
    owners_without_second_factor=0,
    webhooks=[],
    webhooks_total=0,
    gone_webhooks=[],
    gone_webhooks_total=0,
    streams=[],
    streams_total=0,
    numbers=NUMBERS,
    setup=None,
)


def test_a_platform_is_quiet_as_long_as_nothing_waits_and_nothing_fails() -> None:
    something: Any = object()

    assert QUIET.is_quiet
    for part in ("waiting", "alerts", "failed_mails", "webhooks", "gone_webhooks", "streams"):
        assert not replace(QUIET, **{part: [something]}).is_quiet, part
    assert not replace(QUIET, owners_without_second_factor=1).is_quiet
