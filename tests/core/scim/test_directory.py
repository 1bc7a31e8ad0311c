"""When a directory called last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from core.positions import FoundRows
from core.scim.directory import DirectoryOverview
from core.scim.tokens import FoundGroups, ScimToken

NOW = datetime(2026, 2, 3, tzinfo=UTC)


def overview(*last_used_at: datetime | None) -> DirectoryOverview:
    """Return a directory whose tokens were used last at these times."""
    tokens = [
        ScimToken(
            id=UUID(int=number),
            name="Okta",
            prefix="scim_live_abc123",
            groups=FoundGroups.ORGANIZATION,
            created_at=NOW,
            expires_at=None,
            last_used_at=at,
        )
        for number, at in enumerate(last_used_at)
    ]
    return DirectoryOverview(members=FoundRows(found=[], total=0, next=None), tokens=tokens, failures=[])


def test_the_last_call_is_that_of_any_token() -> None:
    assert overview(None, NOW - timedelta(days=1), NOW).last_called_at == NOW
    assert overview(None).last_called_at is None
    assert overview().last_called_at is None
