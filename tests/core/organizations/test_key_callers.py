"""What a key of an organization opens, by the declarations of the operations (decisions 5.13)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.organizations import key_callers
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.key_callers import OrganizationKeyInvalid, is_open_to_keys

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


def test_what_an_owner_or_a_person_does_is_closed() -> None:
    closed = {operation for operation in Operation if not is_open_to_keys(operation)}

    assert {operation for operation in closed if isinstance(operation.takes, Capability)} == {
        Operation.API_KEY_CREATE,
        Operation.SCIM_TOKEN_CREATE,
        Operation.SETUP_LINK_CREATE,
        Operation.SERVICE_TRY,
    }
    assert {operation for operation in Operation if isinstance(operation.takes, RequiredStanding)} - closed == {
        Operation.ORGANIZATION_READ,
        Operation.ROLES_READ,
        Operation.PRODUCTS_READ,
    }
    # One that is added makes something of the organization, which stays, or is closed too.
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
    }
    assert {Operation.KEYS_READ, Operation.KEY_CREATE, Operation.KEYS_CHANGE, Operation.OWNERSHIP_TRANSFER} <= closed
