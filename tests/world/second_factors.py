"""Users with a second factor: they sign in over HTTP, and their authenticator app follows the test's clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from pyotp.totp import TOTP

from tests.application import Answer
from tests.authenticators import Authenticator
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

STEP = timedelta(seconds=30)


@dataclass
class Person:
    """A user with a password, and with an authenticator app once it is set up."""

    world: World
    id: UUID
    email: str
    address: str = "127.0.0.1"
    token: str = ""
    secret: str = ""
    backup_codes: list[str] = field(default_factory=list)

    def join_organization(self, slug: str = "engines", **columns: Any) -> UUID:
        """Insert an organization with this one member."""
        organization_id = self.world.organization(slug, **columns)
        self.world.member(organization_id, self.id)
        return organization_id

    def code(self, steps: int = 0) -> str:
        """Return the code that the app shows now, or so many steps later."""
        return TOTP(self.secret).at(self.world.clock() + steps * STEP)

    def wrong_code(self) -> str:
        """Return a code of six digits that the app does not show within two steps."""
        near = {self.code(steps) for steps in range(-2, 3)}
        return next(code for code in (f"{number:06}" for number in range(10)) if code not in near)

    def next_step(self) -> None:
        """Wait for the next code."""
        self.world.clock.advance(STEP)

    async def log_in(self, password: str = PASSWORD, headers: dict[str, str] | None = None, **body: Any) -> Answer:
        """Send the password."""
        return await self.world.client.post(
            "/api/auth/login",
            body={"email": self.email, "password": password, **body},
            headers=headers,
            address=self.address,
        )

    async def preauth_token(self, **body: Any) -> str:
        """Send the password, and return the pre-auth token."""
        answer = await self.log_in(**body)
        assert answer.json["mfa_required"] is True, answer.json
        return answer.json["preauth_token"]

    async def verify(self, preauth_token: str, code: str, **body: Any) -> Answer:
        """Send a code with the pre-auth token."""
        return await self.world.client.post(
            "/api/auth/mfa/verify", token=preauth_token, body={"code": code, **body}, address=self.address
        )

    async def ask_passkey(self, preauth_token: str) -> Answer:
        """Ask for what a passkey has to sign to finish a sign-in."""
        return await self.world.client.post(
            "/api/auth/mfa/passkey", body={"preauth_token": preauth_token}, address=self.address
        )

    async def answer(self, preauth_token: str, credential: Any, **body: Any) -> Answer:
        """Send what a passkey has signed with the pre-auth token."""
        return await self.world.client.post(
            "/api/auth/mfa/verify",
            body={"preauth_token": preauth_token, "credential": credential, **body},
            address=self.address,
        )

    async def verify_with(self, passkey: Authenticator, **body: Any) -> Answer:
        """Sign in with the password, and then with a passkey."""
        token = await self.preauth_token(**body)
        asked = await self.ask_passkey(token)
        assert asked.status == 200, asked.text
        return await self.answer(token, passkey.get(asked.json["options"]))

    async def mfa(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request below /api/user/mfa with the user's access token."""
        return await self.world.client.request(
            method, f"/api/user/mfa{path}", token=self.token, body=body, address=self.address
        )

    async def sign_in(self) -> None:
        """Get an access token, without a second factor."""
        self.token = (await self.log_in()).json["access_token"]

    async def sign_in_with_second_factor(self) -> None:
        """Get an access token with a code of the app."""
        self.token = (await self.verify(await self.preauth_token(), self.code())).json["access_token"]

    async def reset_password(self, password: str) -> None:
        """Choose another password with a mailed link."""
        await self.world.client.post("/api/auth/forgot-password", body={"email": self.email})
        token = next(mail.values["token"] for mail in await self.world.mails() if mail.template == "reset_password")
        body = {"token": token, "new_password": password}
        answer = await self.world.client.post("/api/auth/reset-password", body=body)
        assert answer.status == 200, answer.text

    async def set_up(self) -> Answer:
        """Request a new secret for the app."""
        answer = await self.mfa("POST", "/setup")
        assert answer.status == 200, answer.json
        self.secret = answer.json["secret"]
        return answer

    async def turn_mfa_on(self) -> None:
        """Sign in, set the app up, and turn MFA on."""
        await self.sign_in()
        await self.set_up()
        answer = await self.mfa("POST", "/verify", {"code": self.code()})
        assert answer.status == 200, answer.json
        self.backup_codes = answer.json["backup_codes"]


def insert_person(world: World, email: str = EMAIL) -> Person:
    """Insert a user with a password and a verified address."""
    return Person(world, world.user(email), email)
