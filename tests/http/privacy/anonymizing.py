"""Anonymizing a user, for tests."""

from __future__ import annotations

from uuid import UUID

from tests.application import Answer
from tests.world.platform import Platform
from tests.world.signing_in import Tokens


async def anonymize(platform: Platform, user_id: UUID | str, *, by: Tokens | None = None) -> Answer:
    return await platform.request("DELETE", f"/api/privacy/forget/{user_id}", by=by)
