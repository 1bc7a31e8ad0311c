"""The program with a key as the caller of a transaction, and what changes while it waits for a lock."""

from __future__ import annotations

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.errors import Forbidden, OrganizationNotActive, Unauthorized
from core.organizations import key_callers
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.key_callers import MakerWithoutAccess, OrganizationKeyInvalid
from core.sessions.origins import BACKGROUND
from tests.world.builder import Builder
from tests.world.organization_keys import KEY, insert_organization_key


@pytest.fixture
def uow(builder: Builder, connection: Connection, tools: Tools) -> PostgresUnitOfWork:
    """A transaction of a program with a key of an admin."""
    organization_id, maker_id = builder.organization(), builder.user()
    builder.member(organization_id, maker_id, "admin")
    insert_organization_key(builder, organization_id, maker_id)
    return PostgresUnitOfWork(connection, BACKGROUND, tools, organization_credential=key_callers.presented(KEY))


def test_there_is_no_caller_before_the_key_is_authorized(uow: PostgresUnitOfWork) -> None:
    with pytest.raises(Unauthorized):
        _ = uow.caller

    assert uow.caller_if_signed_in is None


def test_what_has_changed_behind_the_lock_counts(
    uow: PostgresUnitOfWork, connection: Connection, subtests: pytest.Subtests
) -> None:
    changes = {
        "UPDATE memberships SET role = 'member'": Forbidden,
        "UPDATE memberships SET suspended_at = now()": MakerWithoutAccess,
        "UPDATE organizations SET status = 'suspended'": OrganizationNotActive,
        "DELETE FROM organization_keys": OrganizationKeyInvalid,
    }
    assert authorize(uow, "acme", Operation.INVITATIONS_CHANGE).caller.account.id == uow.caller.account.id
    for change, refusal in changes.items():
        with subtests.test(change=change):
            connection.execute(change.encode())

            with pytest.raises(refusal):
                authorize(uow, "acme", Operation.INVITATIONS_CHANGE)


def test_a_key_that_shares_its_prefix_is_another_key(
    uow: PostgresUnitOfWork, builder: Builder, connection: Connection
) -> None:
    globex, maker_id = builder.organization("globex"), builder.user("bob@example.com")
    builder.member(globex, maker_id, "owner")
    insert_organization_key(builder, globex, maker_id, f"{KEY[:9]}_{'p' * 43}")

    assert authorize(uow, "acme", Operation.SERVICES_LIST).organization.slug == "acme"
