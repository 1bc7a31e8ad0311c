"""Changing where a connection leads: who may, and what it ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from core.sign_in.upstream.connections import changes
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.identity_provider import IdentityProvider
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, running_openid_provider
from tests.service_provider import key_pair
from tests.upstream_provider import serving as serving_answers
from tests.world.builder import PASSWORD, new_id
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import saml_acme
from tests.world.setups import Setups
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ADA = "ada@acme.example"
ELSEWHERE = "https://elsewhere.example"


async def integrator(acme: Acme) -> SignedInUser:
    """Return a member who manages integrations, and neither members nor roles."""
    acme.world.custom_role(acme.organization_id, "integrator", "integrations.manage")
    return await acme.world.signed_in_member(acme.organization_id, "integrator", "insider@acme.example")


@pytest.mark.parametrize(
    "fields",
    [
        {"issuer": ELSEWHERE, "client_secret": "another-secret"},
        {"client_id": "another-client"},
        {"attribute_mapping": {"id": "employee_number"}},
    ],
    ids=str,
)
async def test_a_connection_that_leads_elsewhere_unlinks_its_accounts_and_ends_its_sessions_and_sign_ins(
    acme: Acme, fields: dict[str, Any]
) -> None:
    await acme.sign_in()
    under_way = acme.provider.sign_in(await acme.depart())

    await acme.change(**fields)

    assert (acme.identities, acme.live_sessions) == (0, 0)
    assert (await acme.visitor.send("GET", under_way)).status == 400
    assert [data["sessions"] for _, _, data in acme.world.events("session.revoked")] == [1]
    [details] = [one for (one,) in acme.world.audit_entries("upstream_connection.updated", "details")]
    assert (details["identities_unlinked"], details["sessions_ended"]) == (1, 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Renamed"},
        {"client_secret": CLIENT_SECRET},
        {"scopes": ["groups"]},
        {"attribute_mapping": {"email": "upn"}},
        {"joins_as": "member"},
        {"trust_mfa": True},
    ],
    ids=str,
)
async def test_other_changes_leave_accounts_and_sessions(acme: Acme, fields: dict[str, Any]) -> None:
    await acme.sign_in()

    await acme.change(**fields)

    assert (acme.identities, acme.live_sessions) == (1, 1)


async def test_the_identities_of_another_organization_stay(acme: Acme) -> None:
    await acme.sign_in()
    globex = acme.world.organization("globex")
    owner = await acme.world.signed_in_member(globex, email="owner@globex.example")

    answer = await owner.patch(acme.path.replace("acme", "globex"), {"client_id": "another-client"})

    assert_refused(answer, 404, "NOT_FOUND")
    assert (acme.identities, acme.live_sessions) == (1, 1)


@pytest.mark.parametrize("given", [{"joins_as": "auditor"}, {"trust_mfa": True}], ids=str)
async def test_where_a_connection_gives_a_role_or_a_factor_only_who_may_give_it_lets_it_lead_elsewhere(
    acme: Acme, given: dict[str, Any]
) -> None:
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view", "org.members.manage")
    await acme.change(**given)
    await acme.sign_in()
    insider = await integrator(acme)

    for fields in (
        {"attribute_mapping": {"id": "employee_number"}},
        {"issuer": ELSEWHERE, "client_secret": "another-secret"},
        {"client_id": "another-client"},
    ):
        assert_refused(await acme.wish(insider, **fields), 403, "FORBIDDEN")
    assert acme.identities == 1
    assert (await acme.wish(insider, name="Renamed")).status == 200
    assert (await acme.wish(acme.owner, client_id="another-client")).status == 200
    assert acme.identities == 0


async def test_who_may_not_give_every_role_trusts_no_connection_with_the_second_factor(acme: Acme) -> None:
    insider = await integrator(acme)

    assert_refused(await acme.wish(insider, trust_mfa=True), 403, "FORBIDDEN")
    assert (await acme.wish(acme.owner, trust_mfa=True)).status == 200
    assert (await acme.wish(insider, trust_mfa=True, name="Renamed")).status == 200


async def test_an_insider_is_not_signed_in_as_the_owner_by_another_mapping(acme: Acme) -> None:
    acme.provider.claims = {"sub": "owner-1", "email": "owner@acme.example", "employee_number": "owner-1"}
    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email="owner@acme.example")
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert acme.world.rows("SELECT subject FROM identities") == [("owner-1",)]
    insider = await integrator(acme)

    assert (await acme.wish(insider, attribute_mapping={"id": "nickname"})).status == 200
    acme.visitor.cookies.clear()
    acme.provider.claims = {"sub": "insider", "nickname": "owner-1", "email": "owner@acme.example"}
    page = await acme.sign_in()

    # The address has an account, to which its user signs in first.
    assert "sign-in" in page.text
    assert not acme.visitor.has_session


async def test_entering_the_secret_settles_an_issuer_that_was_changed_without_it(acme: Acme) -> None:
    acme.world.connection.execute("UPDATE upstream_connections SET issuer_changed = true")

    await acme.change(name="Renamed")
    assert acme.world.value("SELECT issuer_changed FROM upstream_connections")
    await acme.change(client_secret="entered-again")

    assert not acme.world.value("SELECT issuer_changed FROM upstream_connections")


async def test_another_issuer_takes_the_client_secret_again(acme: Acme) -> None:
    with running_openid_provider() as evil:
        refused = await acme.wish(acme.owner, issuer=evil.url)
        await acme.visitor.open(f"/auth/upstream?connection_id={acme.connection_id}")

        assert refused.invalid_fields == ["client_secret"]
        assert evil.requests == []
        assert (await acme.wish(acme.owner, issuer=evil.url, client_secret="of-the-other")).status == 200
        assert (await acme.wish(acme.owner, issuer=evil.url)).status == 200


async def test_switching_a_connection_off_ends_its_sessions_and_sign_ins_and_keeps_its_accounts(acme: Acme) -> None:
    await acme.sign_in()
    under_way = acme.provider.sign_in(await acme.depart())

    await acme.change(enabled=False)
    await acme.change(enabled=True)

    assert (acme.identities, acme.live_sessions) == (1, 0)
    assert [data["sessions"] for _, _, data in acme.world.events("session.revoked")] == [1]
    assert (await acme.visitor.send("GET", under_way)).status == 400


async def test_a_connection_that_is_not_trusted_any_more_ends_the_sessions_that_it_was_trusted_for(acme: Acme) -> None:
    await acme.change(trust_mfa=True)
    await acme.sign_in()

    await acme.change(trust_mfa=False)

    assert (acme.identities, acme.live_sessions) == (1, 0)


async def test_deleting_a_connection_publishes_that_its_sessions_ended(acme: Acme) -> None:
    await acme.sign_in()

    assert (await acme.owner.delete(acme.path)).status == 204

    assert [data["sessions"] for _, _, data in acme.world.events("session.revoked")] == [1]


async def test_a_second_half_of_a_sign_in_ends_with_the_connection(acme: Acme) -> None:
    await acme.sign_in()
    acme.world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = %s", (ADA,))
    acme.visitor.cookies.clear()
    await acme.sign_in()
    assert acme.world.value("SELECT count(*) FROM mfa_challenges WHERE used_at IS NULL") == 1

    await acme.change(enabled=False)

    assert acme.world.value("SELECT count(*) FROM mfa_challenges WHERE used_at IS NULL") == 0


@pytest.mark.parametrize("fields", [{"enabled": False}, {"client_id": "another-client"}], ids=str)
async def test_a_sign_in_that_races_with_the_change_leaves_no_session(acme: Acme, fields: dict[str, Any]) -> None:
    await acme.sign_in()
    acme.visitor.cookies.pop("gatehouse_session", None)
    back = acme.provider.sign_in(await acme.depart())

    await at_once(partial(acme.visitor.send, "GET", back), partial(acme.wish, acme.owner, **fields))

    assert acme.live_sessions == 0


async def test_of_two_editors_at_once_each_change_is_judged_by_what_the_other_has_left(acme: Acme) -> None:
    insider = await integrator(acme)
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")

    answers = await at_once(
        partial(acme.wish, acme.owner, joins_as="auditor"), partial(acme.wish, insider, client_id="another-client")
    )

    shown = (await acme.owner.get(acme.path)).json
    assert statuses_of(answers) in ([200, 200], [200, 403])
    assert (shown["joins_as"], shown["client_id"] == "another-client") == (
        "auditor",
        statuses_of(answers) == [200, 200],
    )


@pytest.mark.parametrize("swaps", ["key", "entity_id"])
async def test_the_holder_of_a_setup_link_lets_no_connection_lead_elsewhere_by_which_people_sign_in(
    setups: Setups, clock: SettableClock, swaps: str
) -> None:
    idp = IdentityProvider(now=clock)
    body = {"type": "saml", "name": "Acme", "metadata_xml": idp.metadata()}
    made = (await setups.team.request("owner", "POST", "/upstream-providers", body=body)).json
    path = f"/app/setup/parts/upstream/{made['id']}"
    await setups.begin(await setups.create("upstream"))
    page = await setups.visitor.open(path)
    evil = IdentityProvider(now=clock, key=key_pair("idp of evil"))
    other = {"key": evil.metadata(), "entity_id": idp.metadata(entity_id="https://idp.other.example")}[swaps]
    # The connection has no users yet.
    assert (await setups.visitor.submit(page, path, metadata_xml=other, metadata_url="")).status == 200
    assert (await setups.visitor.submit(page, path, metadata_xml=idp.metadata(), metadata_url="")).status == 200
    setups.team.world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, linked_at, used_at)
        SELECT gen_random_uuid(), %s, 'upstream', 'employee-1', %s, %s, now(), now()
        """,
        (setups.team.user("ada"), made["id"], setups.team.organization_id),
    )

    refused = await setups.visitor.submit(page, path, metadata_xml=other, metadata_url="")
    grown = await setups.visitor.submit(page, path, metadata_xml=idp.metadata(evil.key), metadata_url="")

    assert (refused.status, grown.status) == (409, 409)
    assert "People sign in by this connection already" in refused.text
    assert setups.team.world.value("SELECT count(*) FROM identities") == 1


async def test_the_holder_of_a_setup_link_enters_the_secret_again_for_another_issuer(setups: Setups) -> None:
    body = {"type": "oidc", "name": "Acme", "issuer": ELSEWHERE, "client_id": "x", "client_secret": "kept-secret"}
    made = (await setups.team.request("owner", "POST", "/upstream-providers", body=body)).json
    path = f"/app/setup/parts/upstream/{made['id']}"
    await setups.begin(await setups.create("upstream"))
    page = await setups.visitor.open(path)
    with running_openid_provider() as provider:
        fields = {"issuer": provider.url, "client_id": CLIENT_ID}

        refused = await setups.visitor.submit(page, path, {**fields, "client_secret": ""})
        saved = await setups.visitor.submit(page, path, {**fields, "client_secret": CLIENT_SECRET})

        # The one that is stored belongs to another issuer.
        assert [one.path for one in provider.requests].count("/token") == 1

    assert (refused.status, saved.status) == (400, 200)
    assert "takes the client secret" in refused.text


async def test_a_saml_connection_keeps_its_accounts_while_one_certificate_stays(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    await acme.sign_in()
    following = key_pair("next idp of acme")
    after = IdentityProvider(now=clock, key=following)

    async def identities_after(metadata: str) -> int:
        assert (await acme.change(metadata_xml=metadata)).status == 200
        return world.value("SELECT count(*) FROM identities")

    assert await identities_after(acme.idp.metadata(following)) == 1
    assert await identities_after(after.metadata()) == 1
    assert await identities_after(acme.idp.metadata()) == 0


async def test_a_member_who_may_not_give_the_role_swaps_no_certificate(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock), joins_as="member")
    world.custom_role(acme.organization_id, "integrator", "integrations.manage")
    insider = await world.signed_in_member(acme.organization_id, "integrator", "insider@acme.example")
    evil = IdentityProvider(now=clock, key=key_pair("idp of evil"))

    answer = await insider.patch(f"{CONNECTIONS}/{acme.connection_id}", {"metadata_xml": evil.metadata()})

    assert_refused(answer, 403, "FORBIDDEN")


async def test_certificates_that_are_not_known_yet_are_learned_at_the_next_sign_in(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    world.connection.execute("UPDATE upstream_connections SET certificates = NULL")

    await acme.sign_in()

    assert acme.visitor.has_session
    assert world.value("SELECT cardinality(certificates) FROM upstream_connections") == 1


async def test_a_connection_that_was_deleted_meanwhile_follows_no_metadata(acme: Acme) -> None:
    transact = acme.world.installation.database.transact

    assert await transact(changes.follow_metadata, acme.organization_id, new_id(), frozenset[str]()) is False


@pytest.mark.parametrize("joins_as", ["", "member"])
async def test_metadata_that_are_read_again_with_other_certificates_follow_the_same_rule(
    world: World, visitor: Visitor, clock: SettableClock, joins_as: str
) -> None:
    idp = IdentityProvider(now=clock)
    following, last = key_pair("next idp of acme"), key_pair("last idp of acme")
    published = {"metadata": idp.metadata()}

    def answer(_request: Any, _path: str, _authorization: str) -> tuple[int, str, bytes]:
        return 200, "application/xml", published["metadata"].encode()

    with serving_answers(answer) as url:
        fields = {"metadata_xml": None, "metadata_url": f"{url}/metadata", "joins_as": joins_as}
        acme = await saml_acme(world, visitor, idp, **fields)
        await acme.sign_in()
        assert visitor.has_session

        async def come_back(published_metadata: str, **state: Any) -> bool:
            published["metadata"] = published_metadata
            visitor.cookies.pop("gatehouse_session", None)
            # Another process has not remembered anything.
            await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")
            await acme.of(**state).sign_in()
            return visitor.has_session

        assert await come_back(idp.metadata(following))
        after = IdentityProvider(now=clock, key=following)
        assert await come_back(after.metadata(), key=following)
        assert world.value("SELECT count(*) FROM identities") == 1
        # No member who may give every role has said that its certificates are published there.
        world.connection.execute("UPDATE upstream_connections SET takes_certificates = false")
        other = IdentityProvider(now=clock, key=last)
        assert not await come_back(other.metadata(), key=last)
        live = world.value("SELECT count(*) FROM sessions WHERE provider = 'upstream' AND revoked_at IS NULL")
        if joins_as:
            # It gives a role, so a member who may give it confirms the new certificates.
            assert (live, world.value("SELECT count(*) FROM identities")) == (3, 1)
            assert (await acme.change(metadata_url=f"{url}/metadata")).status == 200
        assert world.value("SELECT count(*) FROM identities") == 0


async def test_an_enforced_route_is_not_made_by_the_holder_of_a_setup_link(setups: Setups) -> None:
    body = {"type": "saml", "name": "Acme"}
    made = (await setups.team.request("owner", "POST", "/upstream-providers", body=body)).json
    await setups.begin(await setups.create("upstream"))
    path = f"/app/setup/parts/upstream/{made['id']}"
    page = await setups.visitor.open(path)

    await setups.visitor.submit(
        page, f"{path}/domains", {"domain": "acme.example", "enforced": "on", "joins_as": "member", "trust_mfa": "on"}
    )

    [claimed] = (await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]
    shown = (await setups.team.request("owner", "GET", f"/upstream-providers/{made['id']}")).json
    assert (claimed["enforced"], shown["joins_as"], shown["trust_mfa"]) == (False, None, False)
