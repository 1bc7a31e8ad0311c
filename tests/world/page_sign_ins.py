"""The ways to sign in on a page of Gatehouse that belongs to a window of a browser."""

from __future__ import annotations

import json
import re

from tests.application import Answer
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.visitor import Visitor
from tests.world.world import World

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def by_password(_: World, visitor: Visitor, window: Answer) -> Answer:
    """Enter the address and the password."""
    methods = await visitor.submit(window, "/app/sign-in", email=EMAIL)
    return await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)


async def by_passkey(world: World, visitor: Visitor, window: Answer) -> Answer:
    """Use a passkey without entering the address."""
    keyring = Keyring(world, (await world.sign_in(EMAIL)).access_token)
    authenticator = await keyring.registered()
    challenge = await keyring.started(None)
    signed = json.dumps(authenticator.get(challenge["options"]))
    return await visitor.submit(
        window, "/app/sign-in/passkey", challenge_id=challenge["challenge_id"], credential=signed
    )


async def by_mailed_link(world: World, visitor: Visitor, window: Answer) -> Answer:
    """Have a link mailed, and open it in the same browser."""
    methods = await visitor.submit(window, "/app/sign-in", email=EMAIL)
    await visitor.submit(methods, "/app/sign-in/link")
    return await visitor.submit(await _opened(world, visitor))


async def by_code_of_mail(world: World, visitor: Visitor, window: Answer) -> Answer:
    """Have a mail sent, and enter its code."""
    methods = await visitor.submit(window, "/app/sign-in", email=EMAIL)
    asked = await visitor.submit(methods, "/app/sign-in/link")
    code = (await world.mails())[-1].values["code"]
    return await visitor.submit(asked, "/app/sign-in/code", code=code)


async def by_mailed_code(world: World, visitor: Visitor, window: Answer) -> Answer:
    """Have a link mailed, open it in another browser, and enter the code that this one shows."""
    methods = await visitor.submit(window, "/app/sign-in", email=EMAIL)
    asked = await visitor.submit(methods, "/app/sign-in/link")
    other = Visitor(world.client)
    shown = await other.submit(await _opened(world, other))
    [code] = _UUID.findall(shown.text)
    return await visitor.submit(asked, "/app/sign-in/code", code=code)


async def by_second_factor(world: World, visitor: Visitor, window: Answer) -> Answer:
    """Enter the password, and then a code of the app."""
    person = Person(world, world.user_id(EMAIL), EMAIL)
    await person.turn_mfa_on()
    asked = await by_password(world, visitor, window)
    return await visitor.submit(asked, "/app/second-factor", code=person.code())


WAYS = (by_password, by_passkey, by_mailed_link, by_code_of_mail, by_mailed_code, by_second_factor)


async def _opened(world: World, visitor: Visitor) -> Answer:
    return await visitor.open(f"/auth/magic-link?token={(await world.mails())[-1].values['token']}")
