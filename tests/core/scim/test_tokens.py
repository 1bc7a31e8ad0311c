"""The form of a SCIM token, and finding its caller."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.scim.tokens import FoundGroups, ScimCaller, ScimTokenInvalid, identify, presented

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
TOKEN = f"scim_live_abc123_{'t' * 43}"
CALLER = ScimCaller(
    token_id=UUID(int=1),
    token_name="directory",
    groups=FoundGroups.ORGANIZATION,
    token_hash=presented(TOKEN).token_hash,
    last_used_at=None,
    expires_at=None,
    maker_role="owner",
    maker_permissions=None,
    link_roles=None,
    is_for_customer=False,
    organization_id=UUID(int=2),
    organization_status="active",
)


def test_the_prefix_of_a_token_is_found_and_its_secret_hidden() -> None:
    token = presented(TOKEN)

    assert token.prefix == "scim_live_abc123"
    assert "t" * 43 not in repr(token)


@pytest.mark.parametrize("text", ["", "scim_live_", TOKEN + "x", TOKEN[:-1], f"sk_abc123_{'t' * 43}", "é" * 60])
def test_another_form_has_no_prefix(text: str) -> None:
    assert presented(text).prefix == ""


def test_the_caller_is_the_one_with_the_same_hash() -> None:
    other = replace(CALLER, token_id=UUID(int=3), token_hash=bytes(32))

    assert identify([other, CALLER], presented(TOKEN), at=NOW) is CALLER


@pytest.mark.parametrize("candidates", [[], [replace(CALLER, token_hash=bytes(32))], [replace(CALLER, expires_at=NOW)]])
def test_an_unknown_or_expired_token_is_refused(candidates: list[ScimCaller]) -> None:
    with pytest.raises(ScimTokenInvalid):
        identify(candidates, presented(TOKEN), at=NOW)
