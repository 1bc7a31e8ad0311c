"""People with passkeys, for tests: an authenticator in software, and what it says to the house."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from core.mail import mail
from tests.authenticators import Authenticator
from tests.sign_ins import EMAIL, Door

if TYPE_CHECKING:
    from core.mail.mail import MailMessage
    from entrypoints.installation import Installation
    from tests.application import Answer, Client

PATH = "/api/auth/passkeys"
MAILS_MAX = 100


@dataclass
class Keyring:
    """Registers passkeys and signs in with them, as pages would."""

    installation: Installation
    door: Door
    token: str = ""

    @property
    def client(self) -> Client:
        """Who speaks to the house."""
        return self.door.client

    async def arrive(self, email: str = EMAIL, **account: Any) -> None:
        """Make an account, and sign in to it by password."""
        self.door.account(email, **account)
        self.token = (await self.door.enter(email)).access_token

    async def ask(self, method: str, path: str = "", body: Any = None, *, token: str | None = None) -> Answer:
        """Call an endpoint as whoever is signed in, or as whoever else has a token."""
        return await self.client.request(
            method, PATH + path, token=token or self.token, body=body, address=next(self.door.addresses)
        )

    async def start_registration(self) -> dict[str, Any]:
        """Ask for the options of a new passkey."""
        answer = await self.ask("POST", "/register/start")
        assert answer.status == 200, answer.text
        return answer.json

    async def register(self, authenticator: Authenticator | None = None, **others: Any) -> Answer:
        """Register a passkey."""
        asked = await self.start_registration()
        credential = (authenticator or Authenticator()).create(asked["options"])
        return await self.finish_registration(asked, credential, **others)

    async def finish_registration(self, asked: dict[str, Any], credential: Any, **others: Any) -> Answer:
        """Send what an authenticator has made."""
        return await self.ask(
            "POST", "/register/finish", {"challenge_id": asked["challenge_id"], "credential": credential, **others}
        )

    async def registered(self, **traits: Any) -> Authenticator:
        """Give an authenticator whose passkey is registered."""
        authenticator = Authenticator(**traits)
        answer = await self.register(authenticator)
        assert answer.status == 200, answer.text
        return authenticator

    async def start(self, email: str | None = EMAIL, **where: str) -> Answer:
        """Begin to sign in."""
        return await self.client.post(
            f"{PATH}/authenticate/start", body={"email": email, **where}, address=next(self.door.addresses)
        )

    async def started(self, email: str | None = EMAIL) -> dict[str, Any]:
        """Give the options of a sign-in."""
        answer = await self.start(email)
        assert answer.status == 200, answer.text
        return answer.json

    async def finish(self, asked: dict[str, Any], credential: Any, **others: Any) -> Answer:
        """Send what an authenticator has signed."""
        headers = others.pop("headers", None)
        return await self.client.post(
            f"{PATH}/authenticate/finish",
            body={"challenge_id": asked["challenge_id"], "credential": credential, **others},
            headers=headers,
            address=next(self.door.addresses),
        )

    async def sign_in(self, authenticator: Authenticator, email: str | None = EMAIL, **others: Any) -> Answer:
        """Sign in with a passkey."""
        asked = await self.started(email)
        return await self.finish(asked, authenticator.get(asked["options"]), **others)

    async def messages(self) -> list[MailMessage]:
        """Give the letters that have left since the last look."""
        return [one.message for one in await self.installation.database.transact(mail.claim, MAILS_MAX)]

    def security_log(self) -> list[tuple[str, bool, dict[str, Any]]]:
        """List what the separate log says of passkeys, the oldest first."""
        rows = self.door.rows(
            "SELECT event_type, success, details FROM mfa_events WHERE event_type LIKE 'passkey%%' ORDER BY id"
        )
        return [(kind, success, details) for kind, success, details in rows]


@pytest.fixture
def keyring(installation: Installation, door: Door) -> Keyring:
    """Somebody's passkeys."""
    return Keyring(installation, door)
