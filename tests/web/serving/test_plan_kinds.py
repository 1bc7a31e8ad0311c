"""Statements of requests are planned a few times with their values, and then once for all values.

PostgreSQL plans a prepared statement with its values for as long as the plan for any values looks dearer. Where it
stays so, the statement is planned at each execution, which takes longer than running it.
"""

from __future__ import annotations

from typing import Final

import pytest

from adapters.postgres.unit_of_work import PostgresUnitOfWork
from ports.unit_of_work import UnitOfWork
from tests.world.backend import KEY, insert_key
from tests.world.builder import EMAIL, PASSWORD
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.relying_party import insert_relying_party
from tests.world.world import World

SCIM_USER: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
# PostgreSQL plans a statement so often with its values before it compares.
WITH_VALUES: Final = 5
TIMES: Final = WITH_VALUES * 3


@pytest.mark.plans
async def test_statements_of_requests_are_planned_once(world: World) -> None:
    world.user(EMAIL)
    party = insert_relying_party(world, slug="shops")
    insert_key(world, party.organization_id, party.service_id, KEY)
    insert_scim_token(world, party.organization_id, TOKEN)
    for number in range(TIMES):
        await _send_each(world, number)
        issued = await party.tokens()
        await party.token("refresh_token", refresh_token=issued["refresh_token"])
        assert (await party.post("/auth/introspect", {"token": issued["access_token"]})).status == 200

    planned = await world.installation.database.transact(_planned)

    assert len(planned) > 30
    assert [text for text, with_values in planned if with_values > WITH_VALUES] == []


async def _send_each(world: World, number: int) -> None:
    client = world.client
    tokens = await world.sign_in(EMAIL)
    assert (await client.get("/api/user", token=tokens.access_token)).status == 200
    new = {"email": f"new{number}@example.com", "password": PASSWORD}
    assert (await client.post("/api/auth/register", body=new)).status == 200
    made = {"schemas": [SCIM_USER], "userName": f"made{number}@example.com"}
    assert (await client.post("/scim/v2/Users", body=made, token=TOKEN)).status == 201
    added = {"email": f"added{number}@example.com"}
    assert (await client.post("/api/service/users", body=added, headers={"X-Api-Key": KEY})).status == 200


def _planned(uow: UnitOfWork) -> list[tuple[str, int]]:
    """Return the statements that were sent often over this connection, and how often they were planned with values."""
    assert isinstance(uow, PostgresUnitOfWork)
    found = uow._transaction.connection.execute(
        "SELECT statement, custom_plans FROM pg_prepared_statements WHERE custom_plans + generic_plans >= %s", (TIMES,)
    )
    return [(" ".join(statement.split()), times) for statement, times in found]
