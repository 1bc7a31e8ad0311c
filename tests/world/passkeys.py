"""A user's passkeys: a view of the world for tests that register them and sign in with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer, Client
from tests.authenticators import Authenticator
from tests.world.builder import EMAIL
from tests.world.world import World

PATH = "/api/auth/passkeys"


@dataclass
class Keyring:
    """Registers passkeys and signs in with them, as pages would."""

    world: World
    token: str = ""

    @property
    def client(self) -> Client:
        """The client that sends the requests."""
        return self.world.client

    async def sign_up(self, email: str = EMAIL, **account: Any) -> None:
        """Insert a user, and sign in by password."""
        self.world.user(email, **account)
        self.token = (await self.world.sign_in(email)).access_token

    async def ask(self, method: str, path: str = "", body: Any = None, *, token: str | None = None) -> Answer:
        """Send a request with the user's access token, or with another one."""
        return await self.client.request(
            method, PATH + path, token=token or self.token, body=body, address=next(self.world.addresses)
        )

    async def start_registration(self) -> dict[str, Any]:
        """Request the options of a new passkey."""
        answer = await self.ask("POST", "/register/start")
        assert answer.status == 200, answer.text
        return answer.json

    async def register(self, authenticator: Authenticator | None = None, **others: Any) -> Answer:
        """Register a passkey."""
        challenge = await self.start_registration()
        credential = (authenticator or Authenticator()).create(challenge["options"])
        return await self.finish_registration(challenge, credential, **others)

    async def finish_registration(self, challenge: dict[str, Any], credential: Any, **others: Any) -> Answer:
        """Send what an authenticator has made."""
        return await self.ask(
            "POST", "/register/finish", {"challenge_id": challenge["challenge_id"], "credential": credential, **others}
        )

    async def registered(self, **traits: Any) -> Authenticator:
        """Return an authenticator whose passkey is registered."""
        authenticator = Authenticator(**traits)
        answer = await self.register(authenticator)
        assert answer.status == 200, answer.text
        return authenticator

    async def start(self, email: str | None = EMAIL, **where: str) -> Answer:
        """Begin to sign in."""
        return await self.client.post(
            f"{PATH}/authenticate/start", body={"email": email, **where}, address=next(self.world.addresses)
        )

    async def started(self, email: str | None = EMAIL) -> dict[str, Any]:
        """Return the challenge and the options of a sign-in."""
        answer = await self.start(email)
        assert answer.status == 200, answer.text
        return answer.json

    async def finish(self, challenge: dict[str, Any], credential: Any, **others: Any) -> Answer:
        """Send what an authenticator has signed."""
        headers = others.pop("headers", None)
        return await self.client.post(
            f"{PATH}/authenticate/finish",
            body={"challenge_id": challenge["challenge_id"], "credential": credential, **others},
            headers=headers,
            address=next(self.world.addresses),
        )

    async def sign_in(self, authenticator: Authenticator, email: str | None = EMAIL, **others: Any) -> Answer:
        """Sign in with a passkey."""
        challenge = await self.started(email)
        return await self.finish(challenge, authenticator.get(challenge["options"]), **others)

    def security_log(self) -> list[tuple[str, bool, dict[str, Any]]]:
        """List the entries about passkeys in the log of second factors, the oldest first."""
        rows = self.world.rows(
            "SELECT event_type, success, details FROM mfa_events WHERE event_type LIKE 'passkey%%' ORDER BY id"
        )
        return [(kind, success, details) for kind, success, details in rows]
