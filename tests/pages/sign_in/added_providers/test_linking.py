"""Linking and unlinking accounts at added providers, also at a provider that was removed again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.upstream_settings import added_to, external_providers
from entrypoints.web.serving.application import Application
from tests.application import Answer, Client
from tests.world.added_providers import BASE, Added, platform_brand_of, providers_file, settings_with
from tests.world.builder import EMAIL
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PAGE = "/app/account/identities"
API = "/api/user/identities"


@pytest.fixture
def restarted(installation: Installation, tmp_path: Path) -> Callable[..., Client]:
    """Return a client of the installation after a start with a file of these issuers."""

    def restart(**issuers: str) -> Client:
        settings = settings_with(providers_file(tmp_path, issuers))
        changed = replace(
            installation,
            settings=settings,
            external_providers=external_providers(settings),
            platform=platform_brand_of(settings),
        )
        return Client(Application(changed, capabilities.routes(is_development=True, added=added_to(settings))))

    return restart


async def link(added: Added, user: SignedInUser, name: str = "acme") -> Answer:
    """Link an account in a browser that is signed in as the user."""
    asked = await user.post(f"{API}/{name}/link")
    assert asked.status == 200, asked.text
    path = asked.json["authorization_url"].removeprefix(BASE)
    return await added.come_back(path)


async def test_a_linked_account_is_listed_and_signs_in(world: World, added: Added) -> None:
    user = await world.signed_in_user()
    await added.visitor.sign_in()

    answer = await link(added, user)

    assert answer.headers["Location"] == f"{PAGE}?done=linked"
    [item] = (await user.get(API)).json
    assert (item["provider"], item["provider_user_id"]) == ("acme", f"{added.acme.url}#employee-1")
    assert [message.template for message in await world.mails()] == ["identity_linked"]
    added.visitor.cookies.clear()
    await added.sign_in()
    assert added.visitor.has_session


async def test_an_account_is_linked_and_unlinked_on_the_page(world: World, added: Added) -> None:
    world.user()
    await added.visitor.sign_in()
    page = await added.visitor.open(PAGE)
    assert "Link an account at Acme ID" in page.text

    leading = await added.visitor.submit(page, f"{PAGE}/link", provider="acme")
    assert "Sign in at Acme ID now." in leading.text
    path = "/auth/acme?link=" + leading.text.partition("/auth/acme?link=")[2].partition('"')[0]
    linked = await added.sign_in(path)

    assert "Acme ID" in linked.text
    assert "Link an account at Acme ID" not in linked.text
    unlinked = await added.visitor.submit(linked, f"{PAGE}/unlink", provider="acme")
    assert "No account is linked to yours." in unlinked.text
    assert world.value("SELECT count(*) FROM identities") == 0


async def test_the_last_way_to_sign_in_is_not_unlinked(world: World, added: Added) -> None:
    await added.sign_in()
    page = await added.visitor.open(PAGE)

    refused = await added.visitor.submit(page, f"{PAGE}/unlink", provider="acme")

    assert refused.status == 400
    assert "the last way to sign in to your account" in refused.text
    assert world.value("SELECT count(*) FROM identities") == 1


async def test_an_account_of_a_removed_provider_is_shown_as_not_available_and_can_be_unlinked(
    world: World, added: Added, restarted: Callable[..., Client]
) -> None:
    await added.sign_in()
    added.visitor.client = restarted(other=added.other.url)

    page = await added.visitor.open(PAGE)

    assert "Not available" in page.text
    assert "This provider is not offered any more" in page.text
    assert (await added.visitor.send("GET", "/auth/acme")).status == 404
    for path in ("/app/account", "/app/account/sign-ins", "/app/account/sessions", "/app/account/data"):
        assert (await added.visitor.open(path)).status == 200, path
    unlinked = await added.visitor.submit(page, f"{PAGE}/unlink", provider="acme")
    assert "No account is linked to yours." in unlinked.text
    assert world.value("SELECT count(*) FROM identities") == 0


async def test_an_account_of_a_removed_provider_is_no_way_that_remains(
    world: World, added: Added, restarted: Callable[..., Client]
) -> None:
    await added.sign_in()
    page = await added.visitor.open(PAGE)
    leading = await added.visitor.submit(page, f"{PAGE}/link", provider="other")
    path = "/auth/other?link=" + leading.text.partition("/auth/other?link=")[2].partition('"')[0]
    await added.sign_in(path)
    added.visitor.client = restarted(other=added.other.url)
    page = await added.visitor.open(PAGE)

    refused = await added.visitor.submit(page, f"{PAGE}/unlink", provider="other")

    assert refused.status == 400
    assert "the last way to sign in to your account" in refused.text
    await added.visitor.submit(page, f"{PAGE}/unlink", provider="acme")
    assert world.value("SELECT array_agg(provider) FROM identities") == ["other"]


async def test_a_provider_that_gets_the_name_of_another_one_opens_none_of_its_accounts(
    world: World, added: Added, restarted: Callable[..., Client]
) -> None:
    await added.sign_in()
    user_id = world.value("SELECT id FROM users")
    added.visitor.cookies.clear()
    added.visitor.client = restarted(acme=added.other.url)
    added.other.claims["email"] = "eve@example.com"

    back = added.other.sign_in(await added.depart())
    page = await added.visitor.open(back)

    assert "eve@example.com" in page.text
    assert world.value("SELECT count(*) FROM sessions WHERE user_id = %s", user_id) == 1
    assert world.value("SELECT count(*) FROM users") == 2


async def test_a_token_of_the_provider_is_handed_out_and_refreshed(world: World, added: Added) -> None:
    user = await world.signed_in_user()
    await added.visitor.sign_in()
    added.acme.tokens = {"expires_in": 30, "refresh_token": "rt-of-the-idp", "scope": "openid email"}
    await link(added, user)

    added.acme.tokens["expires_in"] = 3600
    refreshed = await user.get("/api/provider-token/acme")
    kept = await user.get("/api/provider-token/acme")

    assert refreshed.json["access_token"] == kept.json["access_token"] == "next-at-of-the-idp"
    assert (refreshed.json["provider"], refreshed.json["scopes"]) == ("acme", ["openid", "email"])


async def test_a_refresh_token_is_sent_to_no_provider_that_got_the_name(
    world: World, added: Added, restarted: Callable[..., Client]
) -> None:
    user = await world.signed_in_user()
    await added.visitor.sign_in()
    added.acme.tokens = {"expires_in": 30, "refresh_token": "rt-of-the-idp"}
    await link(added, user)

    answer = await replace(user, client=restarted(acme=added.other.url)).get("/api/provider-token/acme")

    assert answer.status == 404
    assert added.other.requests == []


async def test_credentials_of_an_organization_are_sent_to_no_provider_that_got_the_name(
    world: World, added: Added, restarted: Callable[..., Client]
) -> None:
    owner = await world.signed_in_member(world.organization("globex"))
    path, page = "/api/organizations/globex/oauth-credentials/acme", "/app/organizations/globex/sign-in"
    body = {"client_id": "globex-at-acme", "client_secret": "the-secret-of-globex"}
    assert (await owner.client.put(path, token=owner.token, body=body)).status == 200
    await added.visitor.sign_in(owner.email)
    before = await added.visitor.open(page)
    added.visitor.client = client = restarted(acme=added.other.url)

    after = await added.visitor.open(page)
    form = await added.visitor.open(f"{page}/oauth-credentials/acme")
    added.visitor.cookies.clear()
    departed = await added.depart("/auth/acme?org=globex")
    await added.visitor.open(added.other.sign_in(departed))

    assert "Client id: globex-at-acme" in before.text
    assert "globex-at-acme" not in after.text + form.text + departed
    assert "the-secret-of-globex" not in str(added.other.requests)
    # Ones that are set anew belong to the present provider.
    assert (await client.put(path, token=owner.token, body=body)).status == 200
    assert "client_id=globex-at-acme" in await added.depart("/auth/acme?org=globex")


async def test_a_name_that_was_never_added_is_neither_linked_nor_unlinked(world: World) -> None:
    user = await world.signed_in_user()

    assert_refused(await user.post(f"{API}/unknown/link"), 404, "NOT_FOUND")
    assert_refused(await user.delete(f"{API}/unknown"), 404, "NOT_FOUND")
    assert_refused(await user.delete(f"{API}/password"), 404, "NOT_FOUND")
    assert world.value("SELECT count(*) FROM users WHERE email = %s", EMAIL) == 1
