"""Upstream connections and domain routes: which settings are accepted, and which are refused."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from core.organizations.domain_proofs import ProofStatus
from core.sign_in.upstream.domains import domain_routes
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.identity_provider import IdentityProvider
from tests.name_server import NameServer
from tests.shown_text import shows
from tests.upstream_provider import serving as serving_answers
from tests.world.team import Team
from tests.world.world import World, assert_refused

BODY = {
    "type": "oidc",
    "name": "Acme",
    "issuer": "https://idp.acme.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
}
SAML_BODY = {"type": "saml", "name": "Acme"}
UNKNOWN = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"


async def connect(team: Team, **fields: Any) -> dict[str, Any]:
    """Create a connection."""
    answer = await team.request("owner", "POST", "/upstream-providers", body={**BODY, **fields})
    assert answer.status == 200, answer.text
    return answer.json


async def connect_by_saml(team: Team, **fields: Any) -> dict[str, Any]:
    """Create a connection by SAML."""
    answer = await team.request("owner", "POST", "/upstream-providers", body={**SAML_BODY, **fields})
    assert answer.status == 200, answer.text
    return answer.json


async def route(team: Team, domain: str = "acme.example", owner: str = "owner") -> dict[str, Any]:
    """Create a connection and a route to it."""
    connection = (await team.request(owner, "POST", "/upstream-providers", body=BODY)).json
    body = {"domain": domain, "provider_id": connection["id"]}
    answer = await team.request(owner, "POST", "/domain-routes", body=body)
    assert answer.status == 200, answer.text
    return answer.json


async def test_a_connection_is_created_listed_changed_and_deleted(team: Team, world: World) -> None:
    created = await connect(team, scopes=["groups"], attribute_mapping={"email": "upn"}, trust_mfa=True)

    assert "client_secret" not in created
    assert (created["scopes"], created["has_secret"], created["joins_as"]) == (["openid", "groups"], True, None)
    listed = (await team.request("owner", "GET", "/upstream-providers")).json
    assert listed == {"upstream_providers": [created], "total": 1}
    path = f"/upstream-providers/{created['id']}"
    changed = await team.request("owner", "PATCH", path, body={"name": "Renamed", "client_secret": "another-secret"})
    assert changed.json == {**created, "name": "Renamed"}
    assert (await team.request("owner", "GET", path)).json == changed.json
    assert b"another" not in bytes(world.value("SELECT client_secret_sealed FROM upstream_connections"))
    assert (await team.request("owner", "DELETE", path)).status == 204
    for method in ("GET", "DELETE"):
        assert_refused(await team.request("owner", method, path), 404, "NOT_FOUND")
    assert_refused(await team.request("owner", "PATCH", path, body={"name": "x"}), 404, "NOT_FOUND")
    assert_refused(await team.request("owner", "POST", f"{path}/test"), 404, "NOT_FOUND")


async def test_a_connection_that_is_not_valid_is_refused(team: Team, subtests: pytest.Subtests) -> None:
    for field, value in (
        ("type", "ldap"),
        ("metadata_url", "https://idp.acme.example/metadata"),
        ("metadata_xml", "<x/>"),
        ("name", " "),
        ("issuer", "http://idp.acme.example"),
        ("issuer", "https://10.0.0.1"),
        ("issuer", "idp.acme.example"),
        ("client_id", "with a blank"),
        ("client_secret", ""),
        ("scopes", ["with a blank"]),
        ("scopes", [f"s{number}" for number in range(20)]),
        ("attribute_mapping", {"role": "role"}),
        ("attribute_mapping", {"email": ""}),
        ("joins_as", "owner"),
        ("joins_as", "unknown"),
        ("name", None),
        ("client_secret", None),
    ):
        with subtests.test(field=field, value=value):
            answer = await team.request("owner", "POST", "/upstream-providers", body={**BODY, field: value})

            assert answer.status == 400
            assert answer.invalid_fields == [field]


async def test_a_saml_connection_is_made_first_and_enabled_once_it_has_metadata(
    team: Team, clock: SettableClock
) -> None:
    made = await connect_by_saml(team)
    path = f"/upstream-providers/{made['id']}"
    idp = IdentityProvider(now=clock)

    assert (made["enabled"], made["issuer"], made["has_secret"], made["scopes"]) == (False, None, False, [])
    refused = await team.request("owner", "PATCH", path, body={"enabled": True})
    assert refused.invalid_fields == ["enabled"]
    tested = await team.request("owner", "POST", f"{path}/test")
    assert (tested.json["success"], "metadata" in tested.json["message"]) == (False, True)
    assert (await team.world.client.get(f"/auth/upstream?connection_id={made['id']}")).status == 404
    changed = await team.request("owner", "PATCH", path, body={"metadata_xml": idp.metadata()})
    assert (changed.json["enabled"], changed.json["issuer"]) == (False, idp.entity_id)
    enabled = await team.request("owner", "PATCH", path, body={"enabled": True})
    assert (enabled.json["enabled"], enabled.json["issuer"]) == (True, idp.entity_id)
    assert (await team.request("owner", "POST", f"{path}/test")).json["success"] is True
    for name in ("issuer", "client_id", "client_secret", "scopes"):
        body = {name: ["x"] if name == "scopes" else "https://idp.acme.example"}
        assert (await team.request("owner", "PATCH", path, body=body)).invalid_fields == [name]


async def test_metadata_are_read_at_their_address_and_stay_those_of_one_identity_provider(
    team: Team, clock: SettableClock
) -> None:
    idp = IdentityProvider(now=clock)
    answers = {"/metadata": (200, "application/xml", idp.metadata().encode())}
    with serving_answers(lambda _request, path, _authorization: answers.get(path, (404, "text/plain", b""))) as url:
        made = await connect_by_saml(team, metadata_url=f"{url}/metadata")
        path = f"/upstream-providers/{made['id']}"
        assert (made["enabled"], made["metadata_url"]) == (True, f"{url}/metadata")
        assert (await team.request("owner", "POST", f"{path}/test")).json["success"] is True
        begun = await team.world.client.get(f"/auth/upstream?connection_id={made['id']}")
        assert begun.status == 303

        answers["/metadata"] = (200, "application/xml", idp.metadata(entity_id="https://evil.example").encode())
        tested = await team.request("owner", "POST", f"{path}/test")
        assert (tested.json["success"], "another identity provider" in tested.json["message"]) == (False, True)
        answers.clear()
        assert (await team.request("owner", "POST", f"{path}/test")).json["success"] is False
        gone = await team.request("owner", "PATCH", path, body={"metadata_url": f"{url}/metadata"})
        assert gone.invalid_fields == ["metadata_url"]


async def test_a_saml_connection_that_is_not_valid_is_refused(team: Team, subtests: pytest.Subtests) -> None:
    for fields, field in (
        ({"metadata_xml": "<x/>"}, "metadata_xml"),
        ({"metadata_xml": "no xml"}, "metadata_xml"),
        ({"metadata_xml": "<x/>", "metadata_url": "https://idp.acme.example"}, "metadata_xml"),
        ({"metadata_url": "https://10.0.0.1/metadata"}, "metadata_url"),
        ({"metadata_url": "http://idp.acme.example/metadata"}, "metadata_url"),
        ({"issuer": "https://idp.acme.example"}, "issuer"),
        ({"enabled": True}, "enabled"),
        ({"name": None}, "name"),
    ):
        with subtests.test(fields=fields, field=field):
            answer = await team.request("owner", "POST", "/upstream-providers", body={**SAML_BODY, **fields})

            assert answer.status == 400
            assert answer.invalid_fields == [field]


async def test_metadata_that_no_sign_in_could_use_are_refused(
    team: Team, clock: SettableClock, subtests: pytest.Subtests
) -> None:
    metadata = IdentityProvider(now=clock).metadata()

    for old, new in (
        ("IDPSSODescriptor", "SPSSODescriptor"),
        ("HTTP-Redirect", "HTTP-Artifact"),
        ("https://idp.acme.example/saml/sso", "javascript://idp"),
        ("https://idp.acme.example/saml/sso", "http://idp.acme.example/sso"),
        ("https://idp.acme.example/saml/sso", "http://[idp"),
        ('use="signing"', 'use="encryption"'),
        ("<ds:X509Certificate>", "<ds:X509Certificate>x"),
    ):
        with subtests.test(old=old, new=new):
            assert old in metadata

            answer = await team.request(
                "owner", "POST", "/upstream-providers", body={**SAML_BODY, "metadata_xml": metadata.replace(old, new)}
            )

            assert answer.status == 400
            assert answer.invalid_fields == ["metadata_xml"]


async def test_metadata_are_not_fetched_for_a_caller_who_may_not_set_them(team: Team) -> None:
    fetched: list[str] = []

    def answer(_request: Any, path: str, _authorization: str) -> tuple[int, str, bytes]:
        fetched.append(path)
        return 404, "text/plain", b""

    with serving_answers(answer) as url:
        body = {**SAML_BODY, "metadata_url": f"{url}/metadata"}
        assert_refused(await team.request("member", "POST", "/upstream-providers", body=body), 403, "FORBIDDEN")

    assert fetched == []


async def test_every_change_of_connections_and_routes_is_in_the_audit_log(
    team: Team, world: World, names: NameServer
) -> None:
    claimed = await route(team)
    path, connection = f"/domain-routes/{claimed['id']}", f"/upstream-providers/{claimed['provider_id']}"
    names.publish(claimed["txt_name"], claimed["txt_value"])
    for method, at, body in (
        ("POST", f"{path}/verify", None),
        ("POST", f"{path}/verify", None),
        ("PATCH", path, {"enforced": True}),
        ("PATCH", connection, {"name": "Renamed", "client_secret": "another-secret"}),
        ("DELETE", path, None),
        ("DELETE", connection, None),
    ):
        assert (await team.request("owner", method, at, body=body)).status in {200, 204}

    entries = world.audit_entries(None, "action", "details", organization_id=team.organization_id)
    assert [action for action, _ in entries] == [
        "upstream_connection.created",
        "domain_route.created",
        "domain_route.verified",
        "domain_route.updated",
        "upstream_connection.updated",
        "domain_route.deleted",
        "upstream_connection.deleted",
    ]
    details = [details for _, details in entries]
    assert details[3]["domain"] == "acme.example"
    assert details[3]["enforced"] is True
    assert not shows(str(details), "secret")


async def test_people_join_only_with_a_role_that_the_maker_may_give(team: Team, world: World) -> None:
    world.custom_role(team.organization_id, "auditor", "audit_logs.view")
    world.custom_role(team.organization_id, "integrator", "integrations.manage")
    team.add("integrator", "integrator")

    assert (await connect(team, joins_as="auditor"))["joins_as"] == "auditor"
    for role in ("member", "auditor"):
        answer = await team.request("integrator", "POST", "/upstream-providers", body={**BODY, "joins_as": role})
        assert_refused(answer, 403, "FORBIDDEN")
    assert (await connect(team, joins_as=""))["joins_as"] is None


async def test_an_organization_has_a_limited_number_of_connections_and_routes(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.sign_in.upstream.connections.connections.CONNECTIONS_MAX", 1)
    monkeypatch.setattr(domain_routes, "ROUTES_MAX", 1)
    claimed = await route(team)

    assert (await team.request("owner", "POST", "/upstream-providers", body=BODY)).status == 400
    body = {"domain": "other.example", "provider_id": claimed["provider_id"]}
    assert (await team.request("owner", "POST", "/domain-routes", body=body)).status == 400


async def test_a_route_is_verified_by_its_txt_record(team: Team, names: NameServer) -> None:
    claimed = await route(team)
    path = f"/domain-routes/{claimed['id']}"

    assert (claimed["status"], claimed["enforced"], claimed["txt_name"]) == (
        "pending",
        False,
        "_gatehouse.acme.example",
    )
    assert (await team.request("owner", "POST", f"{path}/verify")).status == 400
    names.failing.add(claimed["txt_name"])
    assert (await team.request("owner", "POST", f"{path}/verify")).status == 400
    names.failing.clear()
    names.publish(claimed["txt_name"], claimed["txt_value"])
    verified = await team.request("owner", "POST", f"{path}/verify")
    assert verified.json == {**claimed, "status": "verified"}
    enforced = await team.request("owner", "PATCH", path, body={"enforced": True})
    assert enforced.json["enforced"] is True
    listed = (await team.request("owner", "GET", "/domain-routes")).json
    assert listed == {"domain_routes": [enforced.json], "total": 1}
    assert (await team.request("owner", "DELETE", path)).status == 204
    for method, suffix in (("DELETE", ""), ("PATCH", ""), ("POST", "/verify")):
        body = {} if method == "PATCH" else None
        assert_refused(await team.request("owner", method, path + suffix, body=body), 404, "NOT_FOUND")


async def test_a_domain_is_claimed_once_by_an_organization(team: Team) -> None:
    claimed = await route(team)
    body = {"domain": "ACME.example.", "provider_id": claimed["provider_id"]}

    assert_refused(await team.request("owner", "POST", "/domain-routes", body=body), 409, "CONFLICT")


async def test_a_route_leads_to_a_connection_of_the_same_organization(team: Team, world: World) -> None:
    globex = world.team("globex")
    globex.add("boss", "owner")
    claimed = await route(team)
    foreign = await globex.request("boss", "POST", "/upstream-providers", body=BODY)

    for provider_id in (UNKNOWN, foreign.json["id"]):
        body = {"domain": "other.example", "provider_id": provider_id}
        assert (await team.request("owner", "POST", "/domain-routes", body=body)).invalid_fields == ["provider_id"]
        changed = await team.request(
            "owner", "PATCH", f"/domain-routes/{claimed['id']}", body={"provider_id": provider_id}
        )
        assert changed.invalid_fields == ["provider_id"]


async def test_of_two_organizations_that_verify_a_domain_one_has_it(
    team: Team, world: World, names: NameServer
) -> None:
    globex = world.team("globex")
    globex.add("boss", "owner")
    claims = [(one, owner, await route(one, owner=owner)) for one, owner in ((team, "owner"), (globex, "boss"))]
    names.publish(claims[0][2]["txt_name"], *(claimed["txt_value"] for _, _, claimed in claims))

    answers = await at_once(
        *[
            partial(one.request, owner, "POST", f"/domain-routes/{claimed['id']}/verify")
            for one, owner, claimed in claims
        ]
    )

    assert statuses_of(answers) == [200, 409]


async def test_a_proof_that_disappears_is_shown_as_failing_and_ends_the_route_after_seven_days(
    team: Team, world: World, names: NameServer, clock: SettableClock
) -> None:
    claimed = await route(team)
    names.publish(claimed["txt_name"], claimed["txt_value"])
    await team.request("owner", "POST", f"/domain-routes/{claimed['id']}/verify")
    names.records.clear()
    transact = world.installation.database.transact

    async def check() -> list[ProofStatus | None]:
        due = await transact(domain_routes.claim_checks, 16)
        return [await transact(domain_routes.record_check, one, []) for one in due]

    assert await check() == []
    clock.advance(timedelta(days=1))
    assert await check() == [ProofStatus.FAILING]
    lookup = {"email": "ada@acme.example"}
    assert (await world.client.post("/api/auth/lookup-email", body=lookup)).json["auth_method"] == "upstream"
    clock.advance(timedelta(days=7))
    assert (await world.client.post("/api/auth/lookup-email", body=lookup)).json["auth_method"] == "password"
    due = await transact(domain_routes.claim_checks, 16)
    world.connection.execute("DELETE FROM domain_routes")
    assert [await transact(domain_routes.record_check, one, []) for one in due] == [None]
