"""A form that a person sends too long after they signed in: it waits for their own browser, and goes on there once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.tenants import acting
from tests.tenants.model import Held, Person, Violation
from tests.tenants.staff import browser_of, staff_of
from tests.tenants.taking import Story, step
from tests.world.builder import NO_ID
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.tenants.neighbourhood import Neighbourhood

WAITED: Final = "a form waited for a sign-in"
KEPT: Final = "/app/sign-in-again/form"
RENAMING: Final = f"/app/account/passkeys/{NO_ID}/rename"


@step(Story.READING)
async def presses_late(hood: Neighbourhood, address: str) -> None:
    """A person sends a form late; others, other sessions of theirs and other sites try to go on with it, or to send it.

    Then their own browser goes on, and does so once.
    """
    person = hood.model.owner_of(address)
    assert person is not None
    held, other = await _signed_in(hood, person, address), await _signed_in(hood, person, address)
    if held is None or other is None:
        return
    visitor = browser_of(hood, held.access_token)
    form = next(iter(forms_of(await visitor.open("/app/account/sessions"))), None)
    hood.world.connection.execute(
        "UPDATE sessions SET authenticated_at = authenticated_at - interval '11 minutes' WHERE id = %s",
        (claims_of(held.access_token)["sid"],),
    )
    text = f"key of {person.name}"
    if form is None:
        return
    strangers = [one async for one in _strangers(hood, person, other)]
    for stranger in strangers:
        foreign = next((one.fields["form_token"] for one in forms_of(await stranger.open("/app/account/sessions"))), "")
        await visitor.post(RENAMING, {"form_token": foreign, "name": text}, is_followed=False)
    if _kept(hood, held):
        raise Violation("another's form", f"a form that another one has sent waits for {held}")
    await visitor.post(RENAMING, {"form_token": form.fields["form_token"], "name": text}, is_followed=False)
    [path] = _kept(hood, held)
    for stranger in strangers:
        if text in (await stranger.send("GET", path)).text:
            raise Violation("another's form", f"the form of {held} was shown in another browser")
    if text not in (await visitor.send("GET", path)).text:
        raise Violation("denied", f"{held}, and the form that waited is gone")
    hood.explained.add(WAITED)
    if text in (await visitor.send("GET", path)).text:
        raise Violation("twice", f"{held}, and the form that waited goes on twice")


async def _signed_in(hood: Neighbourhood, person: Person, address: str) -> Held | None:
    held = await acting.sign_in(hood, person, address)
    if held is None and await acting.reset(hood, person, address):
        held = await acting.sign_in(hood, person, address)
    return held


async def _strangers(hood: Neighbourhood, person: Person, other: Held) -> AsyncIterator[Visitor]:
    """Return browsers: without a session, of another session of the person, of the attacker, and of an impersonator."""
    yield Visitor(hood.world.client, address=person.network)
    yield browser_of(hood, other.access_token)
    eve = await _signed_in(hood, hood.eve, hood.eve.addresses[1])
    if eve is not None:
        yield browser_of(hood, eve.access_token)
    staff = await staff_of(hood)
    body = {"reason": "a question"}
    answer = await hood.send("POST", f"/api/platform/impersonate/{other.user_id}", body, token=staff.owner_token)
    if answer.status == 200:
        yield browser_of(hood, staff.owner_token, impersonates=answer.json["access_token"])


def _kept(hood: Neighbourhood, held: Held) -> list[str]:
    """Return the pages of the forms that wait for a session."""
    session_id = claims_of(held.access_token)["sid"]
    rows = hood.world.rows("SELECT id FROM shown_secrets WHERE session_id = %s AND page = %s", session_id, KEPT)
    return [f"{KEPT}/{form_id}?page=/app" for (form_id,) in rows]
