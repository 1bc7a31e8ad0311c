"""Connecting an identity provider with a setup link."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.resolver import DnsResolver
from entrypoints.installation import Installation
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.identity_provider import IdentityProvider
from tests.name_server import LOOPBACK, NameServer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, running_openid_provider
from tests.shown_text import shows
from tests.world.setups import Setups
from tests.world.visitor import Visitor
from tests.world.world import World

UPSTREAM = "/app/setup/parts/upstream"
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
async def installation(installation: Installation, names: NameServer) -> Installation:
    """The installation, which asks that name server."""
    return replace(installation, resolver=DnsResolver((LOOPBACK, names.port)))


async def connect_by_saml(setups: Setups) -> Answer:
    """Begin with a link, and make a connection by SAML; return its page."""
    page = await setups.open("upstream?provider=saml")
    return await setups.visitor.submit(page, UPSTREAM, type="saml", name="Acme")


async def test_the_page_of_a_connection_shows_the_addresses_that_the_manual_names(setups: Setups) -> None:
    await setups.begin(await setups.create("upstream"))
    page = await connect_by_saml(setups)
    new = await setups.open("upstream?provider=oidc")
    manual = (ROOT / "ops/docs/organization-settings.md").read_text("utf-8")
    named = set(re.findall(r"`\{base URL\}(/auth/upstream/[^`]+)`", manual))

    connection_id = path_of(page).rpartition("/")[2]
    addresses = {one: f"http://localhost:8000{one.replace(':id', connection_id)}" for one in named}
    assert {one for one, url in addresses.items() if f">{url}</textarea>" in page.text} == named - {
        "/auth/upstream/callback"
    }
    assert f">{addresses['/auth/upstream/callback']}</textarea>" in new.text
    assert len(named) == 5


async def test_the_holder_names_the_issuer_of_the_tokens_that_end_sessions(setups: Setups) -> None:
    await setups.begin(await setups.create("upstream"))
    page = await connect_by_saml(setups)
    form = f"{path_of(page)}/token-issuer"

    wrong = await submit(setups, page, form, {"token_issuer": "https://{tenant}.example"})
    saved = await submit(setups, page, form, {"token_issuer": "https://acme.okta.com"})

    assert wrong.status == 400
    assert "Enter the id of your tenant in place of the placeholder." in wrong.text
    assert 'value="https://acme.okta.com"' in saved.text


async def submit(setups: Setups, page: Answer, action: str, fields: dict[str, Any]) -> Answer:
    """Submit a form of a page with these fields."""
    return await setups.visitor.submit(page, action, **fields)


def path_of(page: Answer) -> str:
    """Return the path of the connection whose page this is."""
    return f"{UPSTREAM}/{page.text.partition('/auth/upstream/')[2].partition('/')[0]}"


async def test_the_holder_connects_by_saml_and_routes_a_mail_domain_to_it(
    setups: Setups, clock: SettableClock, names: NameServer
) -> None:
    link = await setups.create("upstream")
    await setups.begin(link)
    made = await connect_by_saml(setups)
    path, idp = path_of(made), IdentityProvider(now=clock)

    wrong = idp.metadata().replace("IDPSSODescriptor", "SPSSODescriptor")
    refused = await setups.visitor.submit(made, path, metadata_xml=wrong, metadata_url="")
    saved = await setups.visitor.submit(made, path, metadata_xml=idp.metadata(), metadata_url="")
    tested = await setups.visitor.submit(saved, f"{path}/test")
    routed = await setups.visitor.submit(saved, f"{path}/domains", domain="acme.example")
    [claimed] = (await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]
    verify = f"{UPSTREAM}/domains/{claimed['id']}/verify"
    unproved = await setups.visitor.submit(routed, verify)
    names.publish(claimed["txt_name"], claimed["txt_value"])
    proved = await setups.visitor.submit(routed, verify)

    assert (refused.status, "describe no identity provider" in refused.text) == (400, True)
    assert "The last check found no problem." in tested.text
    assert claimed["txt_value"] in routed.text
    assert unproved.status == 400
    assert "The mail domain is verified." in proved.text
    entries = setups.team.world.audit_entries(None, "action", "details", "actor_user_id")
    recorded = [(action, actor) for action, details, actor in entries if details.get("setup_link_id") == link["id"]]
    assert {actor for _, actor in recorded} == {None}
    assert [action for action, _ in recorded] == [
        "upstream_connection.created",
        "upstream_connection.updated",
        "domain_route.created",
        "domain_route.verified",
    ]
    [connection] = (await setups.team.request("owner", "GET", "/upstream-providers")).json["upstream_providers"]
    assert (connection["enabled"], connection["joins_as"], claimed["enforced"]) == (False, None, False)


async def test_a_mistyped_mail_domain_is_shown_again_or_removed_until_it_is_verified(
    setups: Setups, names: NameServer
) -> None:
    link = await setups.create("upstream")
    await setups.begin(link)
    made = await connect_by_saml(setups)
    add = f"{path_of(made)}/domains"

    invalid = await setups.visitor.submit(made, add, domain="acme")
    routed = await setups.visitor.submit(made, add, domain="acne.example")
    twice = await setups.visitor.submit(routed, add, domain="acne.example")
    [claimed] = (await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]
    remove = f"{UPSTREAM}/domains/{claimed['id']}/delete"

    async def press() -> Answer:
        return await setups.visitor.submit(routed, remove, is_followed=False)

    answers = await at_once(press, press)
    again = await setups.visitor.submit(made, add, domain="acme.example")
    [kept] = (await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]
    path = f"{UPSTREAM}/domains/{kept['id']}"
    names.publish(kept["txt_name"], kept["txt_value"])
    verified = await setups.visitor.submit(again, f"{path}/verify")
    late = await setups.visitor.submit(again, f"{path}/delete")

    assert (invalid.status, 'value="acme"' in invalid.text, 'id="domain-problem"' in invalid.text) == (400, True, True)
    assert (twice.status, "is claimed already, here or for another connection" in twice.text) == (409, True)
    assert statuses_of(answers) == [303, 404]
    assert [row["domain"] for row in setups.recorded(link, "domain_route.deleted")] == ["acne.example"]
    assert f'action="{path}/delete"' not in verified.text
    assert (late.status, "is in use, so a setup link cannot remove it" in late.text) == (409, True)
    assert len((await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]) == 1


async def test_a_mail_domain_of_others_or_one_that_is_to_be_enforced_is_not_removed(
    setups: Setups, world: World
) -> None:
    globex = world.team("globex")
    globex.add("boss", "owner")
    await setups.begin(await setups.create("upstream"))
    made = await connect_by_saml(setups)
    own = await setups.visitor.submit(made, f"{path_of(made)}/domains", domain="acme.example")
    theirs = type(setups)(globex, Visitor(world.client))
    await theirs.begin(await theirs.create("upstream", by="boss"))
    [claimed] = (await setups.team.request("owner", "GET", "/domain-routes")).json["domain_routes"]
    remove = f"{UPSTREAM}/domains/{claimed['id']}/delete"
    token = (await theirs.open("upstream?provider=saml")).text.partition('name="form_token" value="')[2].partition('"')

    foreign = await theirs.visitor.post(remove, {"form_token": token[0]})
    await setups.team.request("owner", "PATCH", f"/domain-routes/{claimed['id']}", body={"enforced": True})
    enforced = await setups.visitor.submit(own, remove)

    assert (foreign.status, "It may be removed already." in foreign.text) == (404, True)
    assert enforced.status == 409
    assert world.value("SELECT count(*) FROM domain_routes") == 1


async def test_the_holder_connects_by_openid_connect(setups: Setups) -> None:
    await setups.begin(await setups.create("upstream"))
    page = await setups.open("upstream?provider=oidc")
    with running_openid_provider() as provider:
        fields = {"type": "oidc", "name": "Acme", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
        refused = await submit(setups, page, UPSTREAM, {**fields, "issuer": "http://idp.acme.example"})
        made = await submit(setups, page, UPSTREAM, {**fields, "issuer": provider.url})

    assert refused.status == 400
    assert "http://localhost:8000/auth/upstream/callback" in made.text
    assert CLIENT_SECRET not in made.text


@pytest.mark.parametrize("fields", [{"joins_as": "member"}, {"trust_mfa": True}, {"enforced": True}])
async def test_the_holder_does_not_take_over_a_connection_on_which_the_organization_relies(
    setups: Setups, clock: SettableClock, fields: dict[str, object]
) -> None:
    await setups.begin(await setups.create("upstream"))
    idp = IdentityProvider(now=clock)
    body = {"type": "saml", "name": "Acme", "metadata_xml": idp.metadata()}
    enforced = {"enforced": fields.pop("enforced")} if "enforced" in fields else None
    made = (await setups.team.request("owner", "POST", "/upstream-providers", body={**body, **fields})).json
    if enforced is not None:
        route = {"domain": "acme.example", "provider_id": made["id"], **enforced}
        assert (await setups.team.request("owner", "POST", "/domain-routes", body=route)).status == 200
    path = f"{UPSTREAM}/{made['id']}"
    page = await setups.visitor.open(path)
    evil = IdentityProvider(now=clock, entity_id="https://evil.example")

    refused = await setups.visitor.submit(page, path, metadata_xml=evil.metadata(), metadata_url="")

    assert refused.status == 409
    after = (await setups.team.request("owner", "GET", f"/upstream-providers/{made['id']}")).json
    assert after["issuer"] == idp.entity_id


async def test_the_holder_changes_no_connection_that_gives_a_role_by_a_rule_of_others(
    setups: Setups, clock: SettableClock
) -> None:
    team = setups.team
    team.custom_role("sales", "services.view")
    await setups.begin(await setups.create("upstream"))
    idp = IdentityProvider(now=clock)
    body = {"type": "saml", "name": "Acme", "metadata_xml": idp.metadata()}
    made = (await team.request("owner", "POST", "/upstream-providers", body=body)).json
    rules = [{"source": made["id"], "group": "Sales", "role": "sales"}]
    assert (await team.request("owner", "PUT", "/group-rules", body={"rules": rules})).status == 200
    path = f"{UPSTREAM}/{made['id']}"
    page = await setups.visitor.open(path)
    evil = IdentityProvider(now=clock, entity_id="https://evil.example")

    refused = await setups.visitor.submit(page, path, metadata_xml=evil.metadata(), metadata_url="")

    assert refused.status == 409
    assert (await team.request("owner", "GET", f"/upstream-providers/{made['id']}")).json["issuer"] == idp.entity_id


async def test_the_holder_replaces_the_key_until_the_organization_relies_on_the_connection(setups: Setups) -> None:
    link = await setups.create("upstream")
    await setups.begin(link)
    page = await connect_by_saml(setups)
    path = path_of(page)

    replaced = await setups.visitor.submit(page, f"{path}/key")
    body = {"trust_mfa": True}
    changed = await setups.team.request("owner", "PATCH", f"/upstream-providers/{path.rpartition('/')[2]}", body=body)
    refused = await setups.visitor.submit(page, f"{path}/key")

    assert (replaced.status, changed.status, refused.status) == (200, 200, 409)
    assert [one.get("cause") for one in setups.recorded(link, "upstream_connection.updated")] == ["key_rotated"]
    assert setups.team.world.value("SELECT count(*) FROM connection_keys") == 1


async def test_a_link_opens_no_connection_of_another_organization_and_none_after_it_was_revoked(
    setups: Setups,
) -> None:
    globex = setups.team.world.team("globex")
    globex.add("boss", "owner")
    foreign = (
        await globex.request("boss", "POST", "/upstream-providers", body={"type": "saml", "name": "Globex"})
    ).json
    link = await setups.create("upstream")
    await setups.begin(link)
    page = await connect_by_saml(setups)
    path = path_of(page)

    assert (await setups.visitor.open(f"{UPSTREAM}/{foreign['id']}")).status == 404
    await setups.request("DELETE", f"/{link['id']}")
    for action, fields in (
        (path, {"metadata_xml": "", "metadata_url": ""}),
        (f"{path}/domains", {"domain": "a.example"}),
    ):
        assert (await submit(setups, page, action, fields)).status == 404


async def test_a_link_to_another_part_connects_nothing(setups: Setups) -> None:
    await setups.begin(await setups.create("domain"))

    assert (await setups.open("upstream")).status == 404


async def test_the_problem_of_a_new_connection_is_shown_at_its_field(setups: Setups) -> None:
    await setups.begin(await setups.create("upstream"))

    nameless = await setups.visitor.submit(await setups.open("upstream?provider=saml"), UPSTREAM, name="")
    refused = await setups.visitor.submit(await setups.open("upstream?provider=okta"), UPSTREAM, name="Acme")

    assert (nameless.status, refused.status) == (400, 400)
    assert 'id="name-problem"' in nameless.text
    assert 'id="name-problem"' not in refused.text
    assert all(f'id="{field}-problem"' in refused.text for field in ("issuer", "client_id", "client_secret"))
    assert "OIDC - OpenID Connect" in refused.text


async def test_the_page_asks_for_the_kind_of_provider_and_shows_its_steps_alone(setups: Setups) -> None:
    await setups.begin(await setups.create("upstream"))

    choice = await setups.open("upstream")
    okta, unknown = await setups.open("upstream?provider=okta"), await setups.open("upstream?provider=none")

    assert all(f"?provider={word}" in choice.text for word in ("okta", "entra", "google", "oidc", "saml"))
    assert 'action="/app/setup' not in choice.text
    assert "Okta Admin Console" in okta.text
    assert not shows(okta.text, "Entra")
    assert ">http://localhost:8000/auth/upstream/callback</textarea>" in okta.text
    assert "Which provider do you use?" in unknown.text
