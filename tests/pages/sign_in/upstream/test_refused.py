"""Why sign-ins by an organization's connection were refused, as its admins and the platform read it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.world.openid_acme import Acme
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"


@pytest.fixture
async def saml_connected(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with a connection by SAML."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


async def reasons(acme: Acme | SamlAcme, user_id: UUID) -> list[str | None]:
    """Return the reasons of the sign-ins that the owner sees, each of which names the connection."""
    answer = await acme.owner.get(f"/api/organizations/acme/users/{user_id}/sign-ins")
    assert answer.status == 200, answer.text
    shown = answer.json["sign_ins"]
    assert {one["connection"]["id"] for one in shown} <= {acme.connection_id}
    assert {one["provider"] for one in shown} <= {"upstream"}
    assert answer.json["total"] == len(shown)
    return [one["reason"] for one in shown]


async def test_a_sign_in_on_the_platform_by_the_connection_is_shown_to_its_organization(acme: Acme) -> None:
    await acme.change(joins_as="member")

    await acme.sign_in()

    assert await reasons(acme, acme.world.user_id(ADA)) == [None]
    assert acme.world.rows("SELECT organization_id = user_id FROM login_events WHERE connection_id IS NOT NULL") == [
        (True,)
    ]


async def test_an_address_that_an_account_has_already_has_to_be_linked_first(acme: Acme) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))

    await acme.sign_in()

    assert await reasons(acme, acme.world.user_id(ADA)) == ["link_required"]


async def test_an_address_outside_of_the_verified_domains_is_noted_for_a_member_only(
    acme: Acme, subtests: pytest.Subtests
) -> None:
    member, stranger = acme.world.user("ada@other.example"), acme.world.user("eve@other.example")
    acme.world.member(acme.organization_id, member)
    for name in ("ada", "eve", "unknown"):
        with subtests.test(name=name):
            acme.provider.claims |= {"email": f"{name}@other.example", "sub": name}
            assert (await acme.sign_in()).status == 403

    assert await reasons(acme, member) == ["domain_not_proved"]
    assert acme.world.value("SELECT count(*) FROM login_events WHERE user_id = %s", stranger) == 0


async def test_a_connection_that_was_switched_off_meanwhile_says_so(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    acme.visitor.cookies.clear()
    address = acme.provider.sign_in(await acme.depart())
    acme.world.connection.execute("UPDATE organizations SET max_users = 1")
    acme.world.connection.execute("DELETE FROM memberships WHERE role = 'member'")

    assert (await acme.visitor.open(address)).status == 400

    acme.world.member(acme.organization_id, acme.world.user_id(ADA))
    assert (await reasons(acme, acme.world.user_id(ADA)))[0] == "organization_full"


async def test_an_id_token_for_another_audience_is_noted_for_its_user(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    acme.visitor.cookies.clear()

    acme.provider.claims["aud"] = "another-client"

    assert (await acme.sign_in()).status == 502
    assert await reasons(acme, acme.world.user_id(ADA)) == ["assertion_for_another", None]


async def test_a_provider_that_fails_before_it_names_its_user_is_noted_for_nobody(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    acme.visitor.cookies.clear()

    for claims in ({"aud": "another-client", "sub": None}, {"aud": "another-client", "sub": "unknown", "email": "?"}):
        acme.provider.claims |= claims
        assert (await acme.sign_in()).status == 502

    assert await reasons(acme, acme.world.user_id(ADA)) == [None]


async def test_an_expired_assertion_is_noted_for_its_user(saml_connected: SamlAcme, clock: SettableClock) -> None:
    acme = saml_connected
    await acme.change(joins_as="member")
    await acme.sign_in()
    acme.visitor.cookies.clear()
    request = await acme.depart()
    response = acme.idp.answer(request)
    clock.advance(timedelta(minutes=10))

    assert (await acme.post(response, request.relay_state)).status == 502

    assert await reasons(acme, acme.world.user_id(ADA)) == ["assertion_expired", None]


async def test_an_answer_that_nobody_has_asked_for_is_noted_for_its_user(saml_connected: SamlAcme) -> None:
    acme = saml_connected
    await acme.change(joins_as="member")
    request = await acme.depart()
    await acme.visitor.open((await acme.post(acme.idp.answer(request), request.relay_state)).headers["Location"])

    again = await acme.post(acme.idp.answer(request), request.relay_state)

    assert again.status == 400
    assert await reasons(acme, acme.world.user_id(ADA)) == ["state_unknown", None]


async def test_a_forged_answer_is_noted_for_nobody(saml_connected: SamlAcme) -> None:
    acme = saml_connected
    await acme.change(joins_as="member")
    await acme.sign_in()
    request = await acme.depart()

    forged = acme.idp.response(request, acme.idp.assertion(request))
    assert (await acme.post(forged, request.relay_state)).status == 502

    assert await reasons(acme, acme.world.user_id(ADA)) == [None]


async def test_a_former_member_is_noted_and_no_longer_shown(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    user_id = acme.world.user_id(ADA)
    acme.visitor.cookies.clear()
    acme.world.connection.execute("UPDATE users SET email = 'ada@private.example' WHERE id = %s", (user_id,))
    acme.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (user_id,))

    assert (await acme.sign_in()).status == 403

    gone = await acme.owner.get(f"/api/organizations/acme/users/{user_id}/sign-ins")
    assert gone.status == 404
    assert acme.world.value("SELECT reason FROM login_events WHERE NOT success") == "not_of_organization"


async def test_an_assertion_without_a_stable_name_is_noted_for_nobody(saml_connected: SamlAcme) -> None:
    acme = saml_connected
    await acme.change(joins_as="member")
    await acme.sign_in()
    request = await acme.depart()

    answer = acme.of(name_format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient").idp.answer(request)
    assert (await acme.post(answer, request.relay_state)).status == 502

    assert await reasons(acme, acme.world.user_id(ADA)) == [None]


async def test_an_error_of_the_provider_is_noted_for_nobody(saml_connected: SamlAcme) -> None:
    acme = saml_connected
    await acme.change(joins_as="member")
    await acme.sign_in()
    request = await acme.depart()

    answer = acme.idp.response(request, "", status="urn:oasis:names:tc:SAML:2.0:status:Requester")
    assert (await acme.post(answer, request.relay_state)).status == 502

    assert await reasons(acme, acme.world.user_id(ADA)) == [None]
