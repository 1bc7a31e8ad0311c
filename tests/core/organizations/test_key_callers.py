"""Which operations a key of an organization opens."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.organizations import key_callers
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.key_callers import OrganizationKeyInvalid, TokenOfKey, is_open_to_keys

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
KEY = f"gk_a1B2c3_{'k' * 43}"


def test_a_key_is_found_by_its_prefix() -> None:
    assert key_callers.presented(KEY).prefix == "gk_a1B2c3"


@pytest.mark.parametrize("text", ["", KEY[:-1], f"{KEY}k", KEY.replace("gk_", "sk_"), KEY.replace("a1B2c3", "a1B2c-")])
def test_a_key_of_another_form_has_no_prefix(text: str) -> None:
    assert key_callers.presented(text).prefix == ""


def test_an_unknown_key_is_refused() -> None:
    presented = key_callers.presented(KEY)

    with pytest.raises(OrganizationKeyInvalid):
        key_callers.identify([], presented, at=NOW)


def test_a_token_that_stands_for_a_key_names_key_and_workload() -> None:
    ids = [UUID(int=number) for number in (1, 2, 3)]
    claims = {"sub": f"key:{ids[1]}", "organization_id": str(ids[0]), "workload": str(ids[2])}

    token = key_callers.presented_token(claims)

    assert token is not None
    assert token == TokenOfKey(organization_id=ids[0], key_id=ids[1], workload_id=ids[2])
    assert token.prefix == claims["sub"]
    assert token.token_hash == replace(token, workload_id=ids[0]).token_hash != replace(token, key_id=ids[0]).token_hash
    # A token with a session is a person's, whatever else it says.
    for other in ({**claims, "sid": "x"}, {"sub": str(ids[1])}):
        assert key_callers.presented_token(other) is None


def test_a_token_of_a_key_that_has_ended_is_refused() -> None:
    later: Any = SimpleNamespace(expires_at=NOW + timedelta(seconds=1))
    over: Any = SimpleNamespace(expires_at=NOW)

    assert key_callers.identify_token([later], at=NOW) is later
    for candidates in ([], [over]):
        with pytest.raises(OrganizationKeyInvalid):
            key_callers.identify_token(candidates, at=NOW)


def test_what_an_owner_or_a_person_does_is_closed() -> None:
    closed = {operation for operation in Operation if not is_open_to_keys(operation)}

    assert {operation for operation in closed if isinstance(operation.takes, Capability)} == {Operation.SERVICE_TRY}
    assert {operation for operation in Operation if isinstance(operation.takes, RequiredStanding)} - closed == {
        Operation.ORGANIZATION_READ,
        Operation.ROLES_READ,
        Operation.PRODUCTS_READ,
        Operation.SERVICE_DELETE,
    }
    # An operation that is added makes something of the organization, which stays, or it is closed too. What calls
    # Gatehouse by itself keeps the id of the key, and allows no more than the key.
    assert {operation for operation in Operation if operation.makes_credential} - closed == {
        Operation.SERVICE_CREATE,
        Operation.SERVICE_SECRET_ROTATE,
        Operation.WORKLOAD_CREATE,
        Operation.WEBHOOK_CONFIGURE,
        Operation.SIEM_CONFIGURE,
        Operation.SAML_CERTIFICATE_CREATE,
        Operation.CONNECTION_CONFIGURE,
        Operation.OAUTH_CREDENTIALS_SET,
        Operation.MAIL_SERVER_SET,
        Operation.API_KEY_CREATE,
        Operation.SCIM_TOKEN_CREATE,
        Operation.SETUP_LINK_CREATE,
        Operation.CUSTOMER_SETUP,
    }
    assert {Operation.KEYS_READ, Operation.KEY_CREATE, Operation.KEYS_CHANGE, Operation.OWNERSHIP_TRANSFER} <= closed
