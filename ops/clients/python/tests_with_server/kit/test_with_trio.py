"""The fixture in tests of pytest-trio."""

from __future__ import annotations

import httpx
import pytest
import trio

from gatehouse_client.testing import GatehouseKit


@pytest.mark.trio
async def test_people_sign_in_at_once(gatehouse: GatehouseKit) -> None:
    people = [gatehouse.person(name) for name in ("ann", "ben", "cid")]
    found = set[str]()

    async def ask(client: httpx.AsyncClient, token: str) -> None:
        answer = await client.get("/api/user", headers={"Authorization": f"Bearer {token}"})
        found.add(answer.json()["email"])

    async with httpx.AsyncClient(base_url=gatehouse.base_url) as client, trio.open_nursery() as nursery:
        for person in people:
            nursery.start_soon(ask, client, gatehouse.token(person))

    assert found == {person.email for person in people}
