"""The fixture in tests of pytest-asyncio: what it gives is used from a coroutine as from a function."""

from __future__ import annotations

import httpx
import pytest

from gatehouse_client.testing import GatehouseKit


@pytest.mark.asyncio
async def test_a_token_opens_the_interface(gatehouse: GatehouseKit) -> None:
    ann = gatehouse.person("ann", organization="bolt")

    async with httpx.AsyncClient(base_url=gatehouse.base_url) as client:
        answer = await client.get("/api/user", headers={"Authorization": f"Bearer {gatehouse.token(ann)}"})

    assert answer.json()["email"] == ann.email
