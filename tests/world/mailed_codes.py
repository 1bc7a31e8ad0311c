"""Sign-in mails with a code beside the link: asking for one, and sending codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.world import World

REQUEST = "/api/auth/magic-link/request"
VERIFY = "/api/auth/magic-link/verify"


@dataclass(frozen=True)
class Challenge:
    """What a program has got for its request, and what its mail has; both empty for an address that gets no mail."""

    world: World
    id: str
    code: str
    token: str

    @property
    def wrong_code(self) -> str:
        """A code that the mail does not have."""
        return other_than(self.code)

    async def send(self, code: str, **others: Any) -> Answer:
        """Send a code for the challenge, from the client's `address`."""
        return await send_code(self.world, self.id, code, **others)

    async def follow(self) -> Answer:
        """Sign in with the link of the mail."""
        return await self.world.client.post(VERIFY, body={"token": self.token})


def other_than(code: str) -> str:
    """Return a code with another last digit."""
    return f"{code[:-1]}{(int(code[-1]) + 1) % 10}" if code else "000000"


async def send_code(
    world: World, challenge_id: str, code: str, *, address: str | None = None, **destination: Any
) -> Answer:
    """Send a code for a challenge."""
    body = {"challenge_id": challenge_id, "code": code, **destination}
    return await world.client.post(VERIFY, body=body, **({"address": address} if address is not None else {}))


async def ask(world: World, email: str = EMAIL, **others: Any) -> Challenge:
    """Ask for a mail, and read it if there is one."""
    await world.mails()
    address = others.pop("address", None)
    answer = await world.client.post(
        REQUEST, body={"email": email, **others}, **({"address": address} if address is not None else {})
    )
    assert answer.status == 200, answer.text
    mails = [mail for mail in await world.mails() if mail.template == "magic_link"]
    values = mails[-1].values if mails else {"code": "", "token": ""}
    return Challenge(world, answer.json["challenge_id"], values["code"], values["token"])
