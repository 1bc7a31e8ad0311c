"""Reading a presented API key, finding its caller among those with its prefix, and when it has expired."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from core.services import api_keys
from core.services.api_keys import ApiKey, ApiKeyInvalid, Permission, ServiceCaller
from tests.shown_text import shows

KEY = f"sk_abc123_{'k' * 43}"
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
CALLER = ServiceCaller(
    key_id=UUID(int=1),
    token_hash=hashlib.sha256(KEY.encode()).digest(),
    permissions=["read:users"],
    last_used_at=None,
    expires_at=None,
    service_id=UUID(int=2),
    service_slug="shop",
    organization_id=UUID(int=3),
    organization_status="active",
)


def test_a_key_is_found_by_its_prefix_and_compared_by_its_hash() -> None:
    key = api_keys.presented(KEY)

    assert (key.prefix, key.token_hash) == ("sk_abc123", CALLER.token_hash)
    assert not shows(repr(key), "token_hash")


@pytest.mark.parametrize(
    "text", ["", "sk_", KEY[:-1], KEY + "k", KEY.upper(), " " + KEY, KEY + "\n", "é" * 53, "\ud800"]
)
def test_a_text_of_another_form_has_a_prefix_that_no_key_has(text: str) -> None:
    assert api_keys.presented(text).prefix == ""


def test_the_caller_is_the_one_whose_hash_is_equal() -> None:
    others = [replace(CALLER, key_id=uuid4(), token_hash=bytes([number]) * 32) for number in range(3)]

    assert api_keys.identify([*others, CALLER], api_keys.presented(KEY), at=NOW) is CALLER


@pytest.mark.parametrize("candidates", [[], [replace(CALLER, token_hash=bytes(32))]])
def test_without_an_equal_hash_the_key_is_invalid(candidates: list[ServiceCaller]) -> None:
    with pytest.raises(ApiKeyInvalid):
        api_keys.identify(candidates, api_keys.presented(KEY), at=NOW)


def test_a_key_is_invalid_from_its_expiry_on() -> None:
    expiring = replace(CALLER, expires_at=NOW)

    assert api_keys.identify([expiring], api_keys.presented(KEY), at=NOW - timedelta(microseconds=1)) is expiring
    with pytest.raises(ApiKeyInvalid):
        api_keys.identify([expiring], api_keys.presented(KEY), at=NOW)


def test_a_stored_key_is_shown_as_expired_from_its_expiry_on() -> None:
    key = ApiKey(
        id=uuid4(),
        service_id=CALLER.service_id,
        name="Backend",
        prefix="sk_abc123",
        permissions=[Permission.READ_USERS],
        last_used_at=None,
        expires_at=NOW,
        created_at=NOW - timedelta(days=1),
        created_by=None,
    )

    assert not key.has_expired(NOW - timedelta(microseconds=1))
    assert key.has_expired(NOW)
    assert not replace(key, expires_at=None).has_expired(NOW)
