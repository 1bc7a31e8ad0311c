"""How far a part of a setup is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.organizations.setup_links import PartProgress, SetupState

NOW = datetime(2026, 2, 3, tzinfo=UTC)
EARLIER = NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("known", "state", "at"),
    [
        ({"is_saved": False, "used_at": NOW}, SetupState.NOT_BEGUN, None),
        ({"is_saved": True}, SetupState.SAVED, None),
        ({"is_saved": True, "tested_at": NOW}, SetupState.TESTED, NOW),
        ({"is_saved": True, "tested_at": EARLIER, "used_at": NOW}, SetupState.IN_USE, NOW),
        ({"is_saved": True, "used_at": EARLIER, "failing_since": NOW}, SetupState.FAILING, NOW),
    ],
)
def test_a_part_is_as_far_as_its_last_step(known: dict[str, Any], state: SetupState, at: datetime | None) -> None:
    progress = PartProgress(part="upstream", **known)

    assert (progress.state, progress.at) == (state, at)


@pytest.mark.parametrize(
    ("known", "is_done"),
    [
        ({"is_saved": True}, False),
        ({"is_saved": True, "tested_at": NOW}, False),
        ({"is_saved": True, "is_set": True}, True),
        ({"is_saved": True, "used_at": NOW}, True),
        ({"is_saved": True, "is_set": True, "failing_since": NOW}, False),
    ],
)
def test_a_part_is_done_when_it_is_used_or_as_it_is_wanted_and_does_not_fail(
    known: dict[str, Any], *, is_done: bool
) -> None:
    assert PartProgress(part="upstream", **known).is_done is is_done
