"""The ends of an identity provider's metadata, and of a user's session there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.accounts.sign_in_methods import Provider
from core.errors import Refusal
from core.sign_in import child_sessions, mfa_challenges
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.upstream.connections import connection_keys, metadata_validity
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.upstream_provider import serving as serving_answers
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

DAY = timedelta(days=1)


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with its connection and its domain."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


def at(clock: SettableClock, shift: timedelta) -> str:
    """Return a time from now as metadata and messages contain it."""
    return (clock.now + shift).strftime("%Y-%m-%dT%H:%M:%SZ")


def reasons(acme: SamlAcme) -> list[str]:
    """Return why sign-ins were refused."""
    return [reason for (reason,) in acme.world.rows("SELECT reason FROM login_events WHERE reason IS NOT NULL")]


async def warned(acme: SamlAcme) -> list[tuple[str, str]]:
    """Return the warnings that were just mailed, and their readers."""
    transact = acme.world.installation.database.transact
    for warn in (connection_keys.warn, metadata_validity.warn):
        await transact(warn, 10)
    mails = [one for one in await acme.world.mails() if one.template.endswith("_ending")]
    return [(one.template.value, one.to) for one in mails]


async def test_metadata_that_have_expired_are_refused_with_what_to_do(acme: SamlAcme, clock: SettableClock) -> None:
    expired = acme.idp.metadata(valid_until=at(clock, -DAY))

    refused = await acme.change(metadata_xml=expired)

    assert_refused(refused, 400, "BAD_REQUEST")
    [detail] = refused.json["details"]
    assert detail["field"] == "metadata_xml"
    assert "have expired on" in detail["message"]
    assert "Export them again" in detail["message"]


async def test_after_the_end_of_its_metadata_a_connection_signs_in_no_user(
    acme: SamlAcme, clock: SettableClock
) -> None:
    # Within the lifetime of the owner's access token.
    end = timedelta(minutes=5)
    changed = await acme.change(metadata_xml=acme.idp.metadata(valid_until=at(clock, end)))
    assert changed.json["metadata_valid_until"] == at(clock, end)
    assert (await acme.sign_in()).status == 200
    request = await acme.depart()
    clock.now += end

    begun = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    posted = await acme.post(acme.idp.answer(request), request.relay_state)
    tested = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")

    for answer in (begun, posted):
        assert answer.status == 502
        assert "have expired" in answer.text
    assert tested.json["success"] is False
    assert "have expired on" in tested.json["message"]
    assert reasons(acme) == ["metadata_expired"]
    assert (await acme.change(metadata_xml=acme.idp.metadata())).json["metadata_valid_until"] is None
    acme.visitor.cookies.clear()
    assert (await acme.sign_in()).status == 200


async def test_what_is_read_from_an_address_is_renewed_there(acme: SamlAcme, clock: SettableClock) -> None:
    published = {"metadata": acme.idp.metadata(valid_until=at(clock, DAY))}

    def answer(*_: object) -> tuple[int, str, bytes]:
        return 200, "application/xml", published["metadata"].encode()

    with serving_answers(answer) as url:
        changed = await acme.change(metadata_url=f"{url}/metadata")
        assert changed.status == 200, changed.text
        clock.now += DAY
        refused = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
        published["metadata"] = acme.idp.metadata(valid_until=at(clock, DAY), rest='WantAuthnRequestsSigned="true"')
        renewed = await acme.depart()

    assert refused.status == 502
    assert renewed.relay_state
    stored = acme.world.rows("SELECT metadata_valid_until, signs_requests FROM upstream_connections")
    assert stored == [((clock.now + DAY).replace(microsecond=0), True)]


async def test_the_owner_is_warned_once_before_metadata_end(acme: SamlAcme, clock: SettableClock) -> None:
    await acme.change(metadata_xml=acme.idp.metadata(valid_until=at(clock, 31 * DAY)))
    early = await warned(acme)
    clock.now += 2 * DAY

    assert early == []
    assert await warned(acme) == [("upstream_metadata_ending", "owner@acme.example")]
    assert await warned(acme) == []


async def test_metadata_at_an_address_are_warned_of_three_days_before(acme: SamlAcme, clock: SettableClock) -> None:
    await acme.change(metadata_xml=acme.idp.metadata(valid_until=at(clock, 10 * DAY)))
    acme.world.connection.execute("UPDATE upstream_connections SET metadata_url = 'https://idp.acme.example/metadata'")

    assert await warned(acme) == []
    clock.now += 8 * DAY
    assert await warned(acme) == [("upstream_metadata_ending", "owner@acme.example")]
    acme.world.connection.execute(
        "UPDATE upstream_connections SET metadata_valid_until = metadata_valid_until + interval '1 day'"
    )
    assert await warned(acme) == []


async def test_the_owner_is_warned_once_before_the_key_of_a_connection_ends(
    acme: SamlAcme, clock: SettableClock
) -> None:
    await acme.world.client.get(acme.acs.replace("acs", "metadata"))
    clock.now += timedelta(days=3 * 365 - 29)

    assert await warned(acme) == [("connection_key_ending", "owner@acme.example")]
    assert await warned(acme) == []
    acme.world.connection.execute("UPDATE connection_keys SET warned_at = NULL")
    acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")
    assert await warned(acme) == []


async def test_without_an_owner_there_is_no_mail(acme: SamlAcme, clock: SettableClock) -> None:
    await acme.world.client.get(acme.acs.replace("acs", "metadata"))
    await acme.change(metadata_xml=acme.idp.metadata(valid_until=at(clock, DAY)))
    clock.now += timedelta(days=3 * 365 - 29)
    acme.world.connection.execute("DELETE FROM memberships")

    assert await warned(acme) == []


async def test_a_session_that_has_ended_there_begins_none_here(acme: SamlAcme, clock: SettableClock) -> None:
    await acme.sign_in()
    acme.visitor.cookies.clear()
    statement = '<saml:AuthnStatement AuthnInstant="{0}" SessionNotOnOrAfter="{1}"/>'

    past = await acme.sign_in(statement=statement.format(at(clock, -DAY), at(clock, -timedelta(minutes=2))))
    odd = await acme.sign_in(statement=statement.format(at(clock, -DAY), "tomorrow"))
    two = statement.format(at(clock, -DAY), at(clock, DAY)) + statement.format(at(clock, -DAY), at(clock, -DAY))
    earliest = await acme.sign_in(statement=two)

    assert [answer.status for answer in (past, odd, earliest)] == [502] * 3
    assert not acme.visitor.has_session
    assert reasons(acme) == ["session_over_there"] * 2
    later = await acme.sign_in(statement=statement.format(at(clock, -DAY), at(clock, DAY)))
    assert later.status == 200


STATEMENT = (
    '<saml:AuthnStatement AuthnInstant="{0}" SessionNotOnOrAfter="{1}"><saml:AuthnContext>'
    "<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef>"
    "</saml:AuthnContext></saml:AuthnStatement>"
)


def lasting(clock: SettableClock, shift: timedelta) -> str:
    """Return the statement that a user has signed in, for as long."""
    return STATEMENT.format(at(clock, timedelta()), at(clock, shift))


def ends(acme: SamlAcme) -> list[timedelta]:
    """Return how long the sessions by the connection and those that began from them last."""
    rows = acme.world.rows(
        "SELECT expires_at - authenticated_at FROM sessions WHERE revoked_at IS NULL AND bounded_until IS NOT NULL"
    )
    return [lasts for (lasts,) in rows]


async def test_a_session_lasts_no_longer_than_that_at_the_provider(acme: SamlAcme, clock: SettableClock) -> None:
    clock.now = clock.now.replace(microsecond=0)
    hour = timedelta(hours=1)
    assert (await acme.sign_in(statement=lasting(clock, hour))).status == 200
    assert ends(acme) == [hour]

    clock.now += hour / 2
    used = await acme.visitor.open("/app")
    assert ends(acme) == [hour]
    clock.now += hour / 2
    over = await acme.visitor.send("GET", "/app")

    assert used.status == 200
    assert over.status == 303


async def test_signing_in_there_again_says_anew_how_long_the_session_lasts(
    acme: SamlAcme, clock: SettableClock
) -> None:
    clock.now = clock.now.replace(microsecond=0)
    hour = timedelta(hours=1)
    await acme.sign_in(statement=lasting(clock, hour))

    await acme.sign_in(statement=lasting(clock, 2 * hour))
    assert ends(acme) == [2 * hour]
    await acme.sign_in()

    assert ends(acme) == []
    assert acme.world.value("SELECT count(*) FROM sessions WHERE provider = 'upstream' AND revoked_at IS NULL") == 1


async def test_a_session_that_ends_there_before_its_user_goes_on_begins_none(
    acme: SamlAcme, clock: SettableClock
) -> None:
    await acme.sign_in()
    acme.visitor.cookies.clear()
    request = await acme.depart()
    minute = timedelta(minutes=1)
    answer = await acme.post(acme.idp.answer(request, statement=lasting(clock, minute)), request.relay_state)
    clock.now += 2 * minute

    page = await acme.visitor.send("GET", answer.headers["Location"])

    assert page.status == 401
    assert not acme.visitor.has_session


async def test_the_session_of_a_service_ends_with_that_of_the_provider(acme: SamlAcme, clock: SettableClock) -> None:
    clock.now = clock.now.replace(microsecond=0)
    hour = timedelta(hours=1)
    acme.world.service(acme.organization_id)
    await acme.sign_in(statement=lasting(clock, hour))
    transact = acme.world.installation.database.transact
    [(session_id, user_id)] = acme.world.rows("SELECT id, user_id FROM sessions WHERE provider = 'upstream'")

    outcome = await transact(
        child_sessions.begin,
        session_id,
        user_id,
        Destination(organization_slug="acme", service_slug="shop", device_token=None),
    )

    assert not isinstance(outcome, Refusal)
    assert ends(acme) == [hour, hour]


async def test_the_end_is_kept_while_a_sign_in_waits_for_a_second_factor(acme: SamlAcme, clock: SettableClock) -> None:
    await acme.sign_in()
    transact = acme.world.installation.database.transact
    user_id = acme.world.value("SELECT user_id FROM identities")
    proof = IdentityProof(user_id=user_id, provider=Provider.UPSTREAM, amr=("fed",), bounded_until=clock.now)

    waits = await transact(mfa_challenges.begin, proof, Destination())

    found = await transact(lambda uow: uow.mfa_challenges.find(waits.id, user_id=user_id))
    assert found is not None
    assert found.proof == proof
