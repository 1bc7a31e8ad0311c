"""The directory as the caller of a transaction, and organizations that change or go at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.errors import OrganizationNotActive
from core.scim import groups, tokens
from core.scim.refusals import ResourceUnknown
from core.scim.tokens import ScimTokenInvalid
from core.sessions.origins import BACKGROUND
from tests.world.builder import NO_ID, Builder
from tests.world.directory import TOKEN, insert_scim_token


def test_a_transaction_without_a_token_has_no_directory_as_its_caller(transact: Callable[..., Any]) -> None:
    with pytest.raises(ScimTokenInvalid):
        transact(lambda uow: uow.scim_caller)


def test_an_organization_that_is_suspended_before_its_lock_is_refused(
    builder: Builder, connection: Connection, tools: Tools, transact: Callable[..., Any]
) -> None:
    insert_scim_token(builder, builder.organization(), TOKEN)
    uow = PostgresUnitOfWork(connection, BACKGROUND, tools, scim_token=tokens.presented(TOKEN))
    assert uow.scim_caller.organization_status == "active"
    connection.execute("UPDATE organizations SET status = 'suspended'")

    with pytest.raises(OrganizationNotActive):
        tokens.authorize_and_lock(uow)


def test_an_organization_that_is_gone_is_no_group(transact: Callable[..., Any]) -> None:
    with pytest.raises(ResourceUnknown):
        transact(groups._group, NO_ID, member_form=None)
