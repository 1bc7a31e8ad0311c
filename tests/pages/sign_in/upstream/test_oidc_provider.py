"""oidc-provider, an independent OpenID provider, works unchanged as an organization's connection."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from tests.clock import SettableClock
from tests.oidc_provider import CALLBACK, CLIENT_ID, CLIENT_SECRET, running_oidc_provider
from tests.world.openid_connection import CONNECTIONS, connected_organization
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

REDIRECTS_MAX = 20


@pytest.fixture
def issuer(tmp_path: Path, clock: SettableClock) -> Generator[str]:
    """The issuer of a running provider, which looks at the real time."""
    clock.now = datetime.now(UTC)
    with running_oidc_provider(tmp_path) as running:
        yield running


def sign_in(address: str, account: str) -> str:
    """Sign in at the provider and agree there, as its pages ask for; return where it sends the browser."""
    with httpx.Client(timeout=60) as browser:
        answer = browser.get(address)
        for _ in range(REDIRECTS_MAX):
            if answer.is_redirect:
                address = urljoin(str(answer.url), answer.headers["Location"])
                if address.startswith(CALLBACK):
                    return address
                answer = browser.get(address)
                continue
            assert answer.status_code == 200, answer.text
            prompt = "login" if 'name="login"' in answer.text else "consent"
            answer = browser.post(answer.url, data={"prompt": prompt, "login": account, "password": "any"})
    raise AssertionError("the provider did not send the browser back")


def back(address: str) -> str:
    """Return the path and the query of an address."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


async def test_a_user_signs_in_by_oidc_provider_twice(world: World, visitor: Visitor, issuer: str) -> None:
    acme = await connected_organization(world, issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
    tested = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")
    assert tested.json["success"] is True
    await acme.owner.patch(f"{CONNECTIONS}/{acme.connection_id}", {"client_secret": "mistyped"})
    wrong = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")
    assert wrong.json["success"] is False
    assert "does not accept the client secret" in wrong.json["message"]
    await acme.owner.patch(f"{CONNECTIONS}/{acme.connection_id}", {"client_secret": CLIENT_SECRET})

    for _ in range(2):
        visitor.cookies.clear()
        begun = await visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
        page = await visitor.open(back(sign_in(begun.headers["Location"], "ada")))
        assert page.status == 200, page.text

    assert world.rows("SELECT subject, email FROM identities") == [("ada", "ada@acme.example")]
    assert world.value("SELECT count(*) FROM users WHERE email = 'ada@acme.example'") == 1


async def test_an_account_of_oidc_provider_outside_of_the_verified_domains_signs_nobody_in(
    world: World, visitor: Visitor, issuer: str
) -> None:
    acme = await connected_organization(world, issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
    world.connection.execute("UPDATE domain_routes SET domain = 'other.example'")
    begun = await visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    page = await visitor.open(back(sign_in(begun.headers["Location"], "ada")))

    assert page.status == 403
    assert not visitor.has_session
