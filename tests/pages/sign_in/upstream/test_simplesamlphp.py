"""SimpleSAMLphp works unchanged as an organization's connection, whatever it wants, and so do its logouts."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from entrypoints.settings import Settings
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.service_provider import key_pair, posted_form
from tests.shown_text import shows
from tests.simplesamlphp import SimpleSamlPhp, simplesamlphp
from tests.world.saml_connection import HEADERS, SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

BASE_URL = "http://localhost:8000"
POST = "'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'"
# What the hosted identity provider is configured to want.
WISHES = {
    "plain": (),
    "signed": ("'validate.authnrequest' => true", "'redirect.validate' => true"),
    "posted": (f"'SingleSignOnServiceBinding' => {POST}", f"'SingleLogoutServiceBinding' => {POST}"),
    "encrypted": ("'assertion.encryption' => true",),
}


@pytest.fixture(params=WISHES)
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[SimpleSamlPhp]:
    """The identity provider."""
    with simplesamlphp(tmp_path, key_pair("simplesamlphp"), *WISHES[request.param]) as started:
        yield started


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Development mode with AES-CBC, because this version of SimpleSAMLphp encrypts by nothing else."""
    return replace(settings, saml_aes_cbc=True)


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock, running: SimpleSamlPhp) -> SamlAcme:
    """Acme, whose connection and whose identity provider know each other's metadata."""
    clock.now = datetime.now(UTC)
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock), metadata_xml=running.metadata)
    answer = await visitor.send("GET", f"/auth/upstream/{acme.connection_id}/metadata")
    running.know(answer.text)
    return acme


async def sign_in(acme: SamlAcme, running: SimpleSamlPhp) -> None:
    """Sign in at the identity provider, by what each of both asks the browser to do."""
    begun = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    if begun.status == 200:
        form = posted_form(begun.text)
        page = running.open(form.action, form.fields)
    else:
        page = running.open(begun.headers["Location"])
    assert "SAMLResponse" in page, f"{page}\n{running.log}"
    answer = posted_form(page)
    assert answer.action == f"{BASE_URL}{acme.acs}", page
    data = urlencode(answer.fields).encode()
    taken = await acme.world.client.request("POST", acme.acs, data=data, headers=HEADERS)
    assert taken.status == 303, taken.text
    landed = await acme.visitor.open(taken.headers["Location"])
    assert landed.status == 200, landed.text


def live_sessions(acme: SamlAcme) -> int:
    """Return how many sessions by the connection are live."""
    return acme.world.value("SELECT count(*) FROM sessions WHERE connection_id IS NOT NULL AND revoked_at IS NULL")


async def carried(acme: SamlAcme, where: str) -> str:
    """Bring Gatehouse what the identity provider sends: an address, or a page with a form; return what it answers."""
    if where.startswith(f"{BASE_URL}/"):
        answer = await acme.visitor.send("GET", where.removeprefix(BASE_URL))
    else:
        form = posted_form(where)
        data = urlencode(form.fields).encode()
        path = form.action.removeprefix(BASE_URL)
        answer = await acme.world.client.request("POST", path, data=data, headers=HEADERS)
        acme.visitor.keep(answer)
    return answer.headers["Location"] if answer.status == 303 else answer.text


def followed(running: SimpleSamlPhp, where: str) -> str:
    """Bring the identity provider what Gatehouse sends."""
    if where.startswith("http"):
        return running.open(where)
    form = posted_form(where)
    return running.open(form.action, form.fields)


async def test_a_user_signs_in_by_simplesamlphp_and_its_logout_ends_the_session(
    acme: SamlAcme, running: SimpleSamlPhp
) -> None:
    await sign_in(acme, running)
    assert acme.world.rows("SELECT subject, email FROM identities") == [("employee-1", "ada@acme.example")]
    assert live_sessions(acme) == 1

    target = f"{running.url}/logout.php"
    asked = running.open(f"{running.url}/saml2/idp/initSLO.php?{urlencode({'RelayState': target})}")
    answered = await carried(acme, asked)

    assert live_sessions(acme) == 0
    assert not shows(followed(running, answered).lower(), "error"), running.log


async def test_who_signs_out_here_is_signed_out_there(acme: SamlAcme, running: SimpleSamlPhp) -> None:
    visitor = acme.visitor
    await sign_in(acme, running)

    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    assert live_sessions(acme) == 0
    page = await visitor.send("GET", answer.headers["Location"])
    where = page.headers["Refresh"].removeprefix("0; url=") if "Refresh" in page.headers else page.text
    back = followed(running, where)
    assert "SAMLResponse" in back, running.log
    last = await carried(acme, back)
    assert last == "/app/sign-out" or last.startswith("/auth/upstream/")

    assert "You are signed out" in (await visitor.open(last)).text
