"""An added provider beside the documented ones: on pages, at services, on devices, in organizations and in records."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.upstream_settings import added_to
from entrypoints.web.serving.application import Application
from tests.application import Client
from tests.openid_provider import CLIENT_SECRET, OpenIdProvider, running_openid_provider
from tests.shown_text import shows
from tests.world.acme_shop import AcmeShop
from tests.world.added_providers import Added, platform_brand_of, providers_file, settings_with
from tests.world.authorization import led_back
from tests.world.builder import EMAIL
from tests.world.openid_acme import openid_acme
from tests.world.upstream import parameters_of
from tests.world.world import World

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>'
DOWN = "http://127.0.0.1:9"


@pytest.fixture
def idp() -> Generator[OpenIdProvider]:
    """The identity provider of an organization."""
    with running_openid_provider() as running:
        yield running


def path_of(shop: AcmeShop, name: str = "acme") -> str:
    """Return the path with which a service begins a sign-in."""
    query = {
        "org": shop.org_slug,
        "service": shop.service_slug,
        "redirect_uri": shop.redirect_uri,
        "state": "of the service",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return f"/auth/{name}?{urlencode(query)}"


async def test_the_sign_in_page_has_a_button_with_the_title_and_its_first_letter(added: Added) -> None:
    page = await added.visitor.open("/app/sign-in")
    german = await added.visitor.send("GET", "/app/sign-in", headers={"Accept-Language": "de"})

    assert 'href="/auth/acme?' in page.text or 'href="/auth/acme"' in page.text
    assert '<span class="provider-mark" aria-hidden="true">A</span>Continue with Acme ID</a>' in page.text
    assert '<span class="provider-mark" aria-hidden="true">O</span>Continue with Other ID</a>' in page.text
    assert "Weiter mit Acme ID" in german.text
    assert not shows(page.text, "codehost")


async def test_a_picture_takes_the_place_of_the_letter(
    added: Added, installation: Installation, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "acme.svg").write_text(SVG)
    drawn = settings_with(providers_file(tmp_path, {"acme": added.acme.url}, icon="acme.svg"))
    changed = replace(installation, settings=drawn, platform=platform_brand_of(drawn))
    added.visitor.client = Client(Application(changed, capabilities.routes(is_development=True, added=added_to(drawn))))

    page = await added.visitor.open("/app/sign-in")

    address = page.text.partition('<img class="provider-mark" src="')[2].partition('"')[0]
    picture = await added.visitor.send("GET", address)
    assert (picture.status, picture.headers["Content-Type"].partition(";")[0]) == (200, "image/svg+xml")
    assert "<path" in picture.text


async def test_a_provider_that_is_down_ends_on_a_page_with_the_other_ways(
    world: World, added: Added, installation: Installation
) -> None:
    providers = {
        name: replace(one, issuer=DOWN) if name == "acme" else one
        for name, one in installation.external_providers.items()
    }
    down = replace(installation, external_providers=providers)
    routes = capabilities.routes(is_development=True, added=added_to(installation.settings))
    added.visitor.client = Client(Application(down, routes))

    page = await added.visitor.open("/auth/acme")

    assert page.status == 502
    assert "tell the people who run this site the id below" in page.text
    assert 'href="/app/sign-in"' in page.text
    assert world.value("SELECT count(*) FROM upstream_sign_ins") == 0
    await added.sign_in("/auth/other")
    assert added.visitor.has_session


async def test_a_service_gets_a_code_back(world: World, added: Added, acme_shop: AcmeShop) -> None:
    asked = await added.sign_in(path_of(acme_shop))

    answer = led_back(await added.visitor.submit(asked, "/auth/authorize/allow"), acme_shop.redirect_uri)

    assert answer["state"] == "of the service"
    assert answer["code"]
    assert world.value("SELECT service_id IS NOT NULL FROM identities")


async def test_a_device_is_told_of_the_provider(world: World, added: Added, acme_shop: AcmeShop) -> None:
    client_id = str(world.value("SELECT client_id FROM services"))
    world.connection.execute("UPDATE services SET service_type = 'mobile', client_secret_hash = NULL")
    begun = await world.client.post("/auth/device/code", body={"client_id": client_id})

    verified = await world.client.post("/auth/device/verify", body={"user_code": begun.json["user_code"]})
    page = await added.sign_in(f"/auth/acme?user_code={begun.json['user_code']}")

    assert verified.json["available_providers"] == ["acme", "other"]
    assert begun.json["user_code"] in page.text


async def test_an_organization_has_credentials_of_its_own(world: World, added: Added) -> None:
    owner = await world.signed_in_member(world.organization("globex"))
    path = "/api/organizations/globex/oauth-credentials/acme"
    body = {"client_id": "globex-at-acme", "client_secret": "the-secret-of-globex"}

    put = await owner.client.put(path, token=owner.token, body=body)
    unknown = await owner.client.put(path.replace("/acme", "/unknown"), token=owner.token, body=body)
    added.acme.client_id, added.acme.client_secret = "globex-at-acme", "the-secret-of-globex"
    added.acme.claims["email"] = "eve@example.com"
    await added.sign_in("/auth/acme?org=globex")

    assert put.json == {"provider": "acme", "client_id": "globex-at-acme", "has_secret": True}
    assert unknown.status == 404
    assert world.value("SELECT organization_id IS NOT NULL AND service_id IS NULL FROM identities")
    assert parameters_of(await added.depart("/auth/acme?org=globex"))["client_id"] == "globex-at-acme"


async def test_where_an_organization_enforces_its_sign_in_the_provider_is_refused(
    world: World, added: Added, idp: OpenIdProvider
) -> None:
    acme = await openid_acme(world, added.visitor, idp)
    await acme.enforce()
    added.visitor.cookies.clear()
    added.acme.claims["email"] = "ada@acme.example"

    page = await added.sign_in()

    assert not added.visitor.has_session
    assert page.status == 403, page.text


async def test_the_provider_is_in_the_records_of_its_user(world: World, added: Added) -> None:
    await added.sign_in()
    page = await added.visitor.open("/app/account/sign-ins")
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (EMAIL,))

    assert "Your account at acme" in page.text
    for path in ("/app/account/sessions", "/app/account/data", "/app/platform/sign-ins", "/app/platform/analytics"):
        assert (await added.visitor.open(path)).status in {200, 404}, path
    assert world.value("SELECT provider FROM login_events WHERE reason IS NULL") == "acme"


async def test_nothing_that_is_answered_has_the_secret(added: Added) -> None:
    for path in ("/app/sign-in", "/openapi.json", "/docs"):
        assert CLIENT_SECRET not in (await added.visitor.open(path)).text, path
