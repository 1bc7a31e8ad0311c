"""An account that an intruder takes over by changing its address, and that its owner gets back."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from tests.application import Answer
from tests.world.builder import PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.world import World

NEW = "eve@example.com"
NEW_PASSWORD = "a quite different one"
FORM = "application/x-www-form-urlencoded"


@dataclass
class Victim:
    """An account to which an intruder is signed in."""

    world: World
    keyring: Keyring
    app: Person
    undo_token: str = ""

    @property
    def token(self) -> str:
        """The access token that the owner and the intruder share."""
        return self.keyring.token

    async def ask(self, email: str = NEW) -> Answer:
        """Ask for another address."""
        return await self.world.client.patch("/api/user", token=self.token, body={"email": email})

    async def change(self, email: str = NEW) -> dict[str, str]:
        """Change the address; return the tokens of the mails that this sends, by template."""
        await self.world.mails()
        assert (await self.ask(email)).status == 200
        tokens = {message.template.value: message.values["token"] for message in await self.world.mails()}
        answer = await self.submit("/auth/verify-email", tokens["verify_new_email"])
        assert answer.status == 200, answer.text
        return tokens | {message.template.value: message.values["token"] for message in await self.world.mails()}

    async def take_over(self) -> None:
        """Change the address as the intruder would; the owner keeps the undo link of the notice."""
        self.undo_token = (await self.change())["email_changed"]

    async def sign_in_again(self) -> None:
        """Begin another session, with a code if the account has a second factor."""
        answer = await self.app.log_in(PASSWORD)
        if "mfa_required" in answer.json:
            answer = await self.app.verify(answer.json["preauth_token"], self.app.code())
        self.keyring.token = self.app.token = answer.json["access_token"]

    async def submit(self, path: str, token: str) -> Answer:
        """Press the button of a page."""
        data = urlencode({"token": token}).encode()
        return await self.world.client.post(path, data=data, headers={"Content-Type": FORM})

    async def undo(self) -> Answer:
        """Submit the form behind the undo link."""
        return await self.submit("/auth/undo-email-change", self.undo_token)

    async def recover(self, headers: dict[str, str] | None = None) -> Answer:
        """Undo the change, choose a password with the page's link, and sign in with it."""
        page = await self.undo()
        assert page.status == 200, page.text
        token = page.text.partition("/auth/reset-password?token=")[2].partition('"')[0]
        body = {"token": token, "new_password": NEW_PASSWORD}
        assert (await self.world.client.post("/api/auth/reset-password", body=body)).status == 200
        return await self.app.log_in(NEW_PASSWORD, headers=headers)

    async def turn_mfa_on(self) -> None:
        """Set an authenticator app up and turn the second factor on."""
        await self.app.set_up()
        answer = await self.app.mfa("POST", "/verify", {"code": self.app.code()})
        self.app.backup_codes = answer.json["backup_codes"]

    async def log_in_with_backup_code(self, code: str) -> Answer:
        """Sign in with the new password and a backup code."""
        preauth_token = (await self.app.log_in(NEW_PASSWORD)).json["preauth_token"]
        return await self.app.verify(preauth_token, code)
