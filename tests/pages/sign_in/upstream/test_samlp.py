"""samlp, an independent SAML identity provider, works unchanged as an organization's connection."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.peers import peer
from tests.service_provider import PostedForm, key_pair, posted_form
from tests.shown_text import shows
from tests.world.saml_connection import HEADERS, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

pytestmark = pytest.mark.long


@pytest.fixture(params=["assertion", "response"])
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[subprocess.Popen[str]]:
    """The provider, which signs its assertions or its whole responses."""
    library, key = peer("samlp"), key_pair("samlp")
    shutil.copy(library.files / "answer.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(library.programs.parent)
    (tmp_path / "certificate.pem").write_text(key.certificate_pem)
    (tmp_path / "key.pem").write_text(key.private_pem)
    command = [shutil.which("node") or "node", "answer.mjs", "certificate.pem", "key.pem", request.param]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as provider:
        yield provider
        # Its input ends, and it with it.
        provider.communicate()


def printed(provider: subprocess.Popen[str]) -> str:
    """Return what the provider prints next."""
    assert provider.stdout is not None, "the provider has no output"
    return json.loads(provider.stdout.readline())


def answer_of(provider: subprocess.Popen[str], address: str, acs_url: str, *encryption_pem: str) -> PostedForm:
    """Return the form with the answer of the provider to a request, encrypted if there is a certificate."""
    assert provider.stdin is not None, "the provider has no input"
    provider.stdin.write(json.dumps([address, acs_url, *encryption_pem]) + "\n")
    provider.stdin.flush()
    return posted_form(printed(provider))


async def test_a_user_signs_in_by_samlp(
    world: World, visitor: Visitor, clock: SettableClock, running: subprocess.Popen[str]
) -> None:
    clock.now = datetime.now(UTC)
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    acs_url = f"http://localhost:8000{acme.acs}"
    changed = await acme.change(metadata_xml=printed(running))
    assert changed.status == 200, changed.text

    begun = await visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    form = answer_of(running, begun.headers["Location"], acs_url)
    data = urlencode(form.fields).encode()
    answer = await world.client.request("POST", acme.acs, data=data, headers=HEADERS)
    page = await visitor.open(answer.headers["Location"])

    assert form.action == acs_url
    assert page.status == 200, page.text
    assert world.rows("SELECT subject, email FROM identities") == [("employee-1", "ada@acme.example")]


async def test_an_assertion_that_samlp_has_encrypted_is_read(
    world: World, visitor: Visitor, clock: SettableClock, running: subprocess.Popen[str]
) -> None:
    clock.now = datetime.now(UTC)
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    acs_url = f"http://localhost:8000{acme.acs}"
    assert (await acme.change(metadata_xml=printed(running))).status == 200
    assert (await visitor.send("GET", f"/auth/upstream/{acme.connection_id}/metadata")).status == 200
    certificate = world.value("SELECT public_key FROM connection_keys WHERE is_active")

    begun = await visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    form = answer_of(running, begun.headers["Location"], acs_url, certificate)
    answer = await world.client.request("POST", acme.acs, data=urlencode(form.fields).encode(), headers=HEADERS)
    page = await visitor.open(answer.headers["Location"])

    assert b"aes256-gcm" in form.xml
    assert not shows(form.xml.decode(), "employee-1")
    assert page.status == 200, page.text
    assert world.rows("SELECT subject, email FROM identities") == [("employee-1", "ada@acme.example")]
