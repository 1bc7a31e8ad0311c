"""Signing in by an assertion that the identity provider has encrypted with the key of the connection."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
import trio
from trio.testing import MockClock

from adapters.gateways import upstream_saml
from entrypoints.settings import Settings
from tests.application import Answer
from tests.clock import SettableClock
from tests.encryption import CBC_256, RSA_15, Encryption
from tests.identity_provider import Asked, IdentityProvider
from tests.service_provider import key_pair, sign
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with its connection and its domain."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


async def certificate_of(acme: SamlAcme) -> str:
    """Return the certificate that our metadata offer for encryption."""
    answer = await acme.visitor.send("GET", f"/auth/upstream/{acme.connection_id}/metadata")
    [descriptor] = re.findall('<md:KeyDescriptor use="encryption">.*?</md:KeyDescriptor>', answer.text, re.DOTALL)
    [found] = re.findall("<ds:X509Certificate>([^<]*)<", descriptor)
    lines = "\n".join(re.findall(".{1,64}", "".join(found.split())))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n"


def encrypted(acme: SamlAcme, request: Asked, certificate_pem: str, encryption: Encryption) -> str:
    """Return an answer with an encrypted assertion that is signed."""
    assertion = sign(acme.idp.assertion(request), acme.idp.key)
    return acme.idp.response(request, encryption.element(assertion, certificate_pem))


async def posted(acme: SamlAcme, certificate_pem: str, encryption: Encryption) -> Answer:
    """Return what is answered to an encrypted assertion."""
    request = await acme.depart()
    return await acme.post(encrypted(acme, request, certificate_pem, encryption), request.relay_state)


async def test_an_encrypted_assertion_signs_in(acme: SamlAcme) -> None:
    answer = await posted(acme, await certificate_of(acme), Encryption())

    page = await acme.visitor.open(answer.headers["Location"])
    assert ADA in page.text
    assert acme.visitor.has_session


async def test_the_key_before_a_change_decrypts_as_long_as_it_is_published(
    acme: SamlAcme, clock: SettableClock
) -> None:
    before = await certificate_of(acme)
    path = f"/api/organizations/acme/upstream-providers/{acme.connection_id}/rotate-key-pair"
    rotated = await acme.owner.post(path, {})
    assert rotated.status == 200, rotated.text

    assert (await posted(acme, before, Encryption())).status == 303
    assert (await posted(acme, await certificate_of(acme), Encryption())).status == 303
    clock.now += timedelta(days=8)
    assert (await posted(acme, before, Encryption())).status == 502


async def test_a_tenant_decrypts_nothing_that_is_encrypted_for_another_connection(
    acme: SamlAcme,
) -> None:
    body = {"type": "saml", "name": "Second", "metadata_xml": acme.idp.metadata()}
    created = await acme.owner.post("/api/organizations/acme/upstream-providers", body)
    second = replace(acme, connection_id=created.json["id"])

    assert (await posted(acme, await certificate_of(second), Encryption())).status == 502


async def test_every_failure_has_the_same_answer_at_the_same_moment(acme: SamlAcme, autojump_clock: MockClock) -> None:
    own, theirs = await certificate_of(acme), key_pair("theirs").certificate_pem
    answers: dict[str, str] = {}
    for name, certificate, encryption in (
        ("another key", theirs, Encryption()),
        ("another content key", own, Encryption(key=bytes(32))),
        ("RSA 1.5", own, Encryption(transport=RSA_15)),
        ("AES-CBC", own, Encryption(content=CBC_256)),
        ("no element", own, Encryption(type="")),
    ):
        request = await acme.depart()
        response = encrypted(acme, request, certificate, encryption)
        begun_at = trio.current_time()

        answer = await acme.post(response, request.relay_state)

        assert answer.status == 502, name
        # Never before the end of a period, however fast the machine is.
        assert trio.current_time() - begun_at >= upstream_saml.REFUSAL_SECONDS, name
        answers[name] = re.sub("<code>[0-9a-f]{32}</code>", "", answer.text)
    request = await acme.depart()
    forged = sign(acme.idp.assertion(request), key_pair("evil"))
    answer = await acme.post(acme.idp.response(request, Encryption().element(forged, own)), request.relay_state)
    answers["forged"] = re.sub("<code>[0-9a-f]{32}</code>", "", answer.text)
    assert len(set(answers.values())) == 1, answers
    assert not acme.visitor.has_session


class TestWithAesCbc:
    """Where the operator has allowed AES-CBC."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Development mode, with AES-CBC."""
        return replace(settings, saml_aes_cbc=True)

    async def test_aes_cbc_is_taken(self, acme: SamlAcme) -> None:
        certificate = await certificate_of(acme)

        assert (await posted(acme, certificate, Encryption(content=CBC_256))).status == 303
        assert (await posted(acme, certificate, Encryption(transport=RSA_15))).status == 502
