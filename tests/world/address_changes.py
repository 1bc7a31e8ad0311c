"""Changing the address of an account over HTTP: asking, proving, dropping, and what the profile shows."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.application import Answer
from tests.world.world import World

NEW = "ada@new.example"
ROUNDS = 20


async def ask(world: World, token: str, email: str = NEW) -> Answer:
    """Ask for another address."""
    return await world.client.patch("/api/user", token=token, body={"email": email})


async def asked(world: World, token: str, email: str = NEW) -> dict[str, str]:
    """Ask for another address; return the token in the mail to each address."""
    await world.mails()
    assert (await ask(world, token, email)).status == 200
    return {message.to: message.values["token"] for message in await world.mails()}


async def submit(world: World, path: str, token: str, headers: dict[str, str] | None = None) -> Answer:
    """Press the button of a page."""
    form = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
    return await world.client.post(path, data=urlencode({"token": token}).encode(), headers=form)


async def prove(world: World, token: str, *, as_program: bool = False) -> Answer:
    """Press the button behind the link to the new address; as a program, use a verification link, as of an account."""
    return await submit(world, "/auth/verify-email", token, {"Accept": "application/json"} if as_program else None)


async def drop(world: World, token: str) -> Answer:
    """Press the button behind the link to the present address."""
    return await submit(world, "/auth/undo-email-change", token)


async def shown(world: World, token: str) -> tuple[str, bool]:
    """Return the address of the profile, and whether it is verified."""
    profile = (await world.client.get("/api/user", token=token)).json
    return profile["email"], profile["email_verified"]
