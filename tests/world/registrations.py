"""Registrations of one address by a stranger and by its owner."""

from __future__ import annotations

from typing import Final

from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor
from tests.world.world import World

STRANGER: Final = "the password of a stranger"
JSON: Final = {"Accept": "application/json"}
CONFIRM, CHOOSE, NOT_ME = (f"/auth/verify-email/{name}" for name in ("confirm", "choose-password", "not-me"))
RESEND: Final = "/api/auth/resend-verification"


def path_of(token: str) -> str:
    """Return the path of a link."""
    return f"/auth/verify-email?token={token}"


async def mailed(world: World) -> str:
    """Return the path of the link in the latest mail."""
    # A mail is claimed again after its lease has ended, so that an hour later there are older ones too.
    return path_of((await world.mails())[-1].values["token"])


async def registered(world: World, password: str = STRANGER, email: str = EMAIL) -> str:
    """Register as a program does; return the path of the mailed link."""
    assert (await world.register(email, password)).status in {200, 409}
    return await mailed(world)


async def registered_on_page(visitor: Visitor, world: World, path: str = "/app/register") -> str:
    """Register on the page; return the path of the mailed link."""
    page = await visitor.submit(await visitor.open(path), "/app/register", email=EMAIL, password=PASSWORD)
    assert "Check your email" in page.text
    return await mailed(world)


async def signs_in(world: World, *passwords: str) -> list[int]:
    """Return how signing in with each of these passwords is answered."""
    return [(await world.log_in(EMAIL, password)).status for password in passwords]
