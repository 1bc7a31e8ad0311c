"""Certificates of a service, and the metadata that contain them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from lxml import etree

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.service_provider import NAMESPACES
from tests.world.team import Team
from tests.world.world import assert_refused

SAML = "/services/shop/saml"
ENABLED = {"enabled": True, "entity_id": "https://sp.example/metadata", "acs_url": "https://sp.example/acs"}


@pytest.fixture
async def shop(team: Team) -> Team:
    """The team with a service for which SAML is enabled."""
    team.world.service(team.organization_id)
    answer = await team.request("owner", "POST", SAML, body=ENABLED)
    assert answer.status == 200
    return team


async def create(shop: Team, *, by: str = "admin") -> Answer:
    return await shop.request(by, "POST", f"{SAML}/certificate")


async def metadata(shop: Team, service: str = "shop") -> Answer:
    return await shop.world.client.get(f"/saml/{shop.slug}/{service}/metadata")


def certificates_in(document: Answer) -> list[str]:
    root: Any = etree.fromstring(document.content)
    return [str(one) for one in root.xpath("//ds:X509Certificate/text()", namespaces=NAMESPACES)]


def body_of(pem: str) -> str:
    return "".join(pem.splitlines()[1:-1])


class TestCreate:
    """POST and GET …/saml/certificate."""

    async def test_a_certificate_is_valid_for_three_years_and_its_key_is_not_shown(
        self, shop: Team, clock: SettableClock
    ) -> None:
        answer = await create(shop)

        assert answer.status == 200, answer.text
        assert answer.json.keys() == {"public_key", "valid_from", "valid_until", "is_active", "created_at"}
        certificate = x509.load_pem_x509_certificate(answer.json["public_key"].encode())
        key = certificate.public_key()
        assert isinstance(key, rsa.RSAPublicKey)
        assert key.key_size in {2048, 3072}
        assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == timedelta(days=3 * 365)
        assert certificate.not_valid_before_utc == clock.now.replace(microsecond=0)
        assert (await shop.request("member", "GET", f"{SAML}/certificate")).json == answer.json

    async def test_the_private_key_is_stored_sealed(self, shop: Team) -> None:
        await create(shop)

        [(sealed,)] = shop.world.connection.execute("SELECT private_key_sealed FROM saml_certificates").fetchall()
        assert b"PRIVATE KEY" not in sealed

    async def test_there_is_no_certificate_before_the_first(self, shop: Team) -> None:
        assert_refused(await shop.request("member", "GET", f"{SAML}/certificate"), 404, "NOT_FOUND")

    async def test_none_is_created_while_saml_is_off(self, shop: Team) -> None:
        await shop.request("owner", "DELETE", SAML)

        assert_refused(await create(shop), 400, "BAD_REQUEST")

    @pytest.mark.long
    async def test_the_last_of_two_at_once_is_active_and_it_alone(self, shop: Team) -> None:
        await shop.token("admin")

        answers = await at_once(*[partial(create, shop)] * 2)

        assert statuses_of(answers) == [200, 200]
        rows = shop.world.connection.execute(
            "SELECT is_active, published_until IS NULL FROM saml_certificates ORDER BY is_active"
        ).fetchall()
        assert rows == [(False, False), (True, True)]

    async def test_it_is_recorded_without_its_key(self, shop: Team) -> None:
        await create(shop)

        [(target, details)] = shop.world.audit_entries("saml_certificate.created", "target_type", "details")
        assert target == "service"
        assert details.keys() == {"service_slug", "certificate_id", "valid_until"}


class TestMetadata:
    """GET /saml/:org_slug/:service_slug/metadata."""

    async def test_metadata_name_the_endpoints_and_the_certificate(self, shop: Team) -> None:
        created = await create(shop)

        answer = await metadata(shop)

        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/samlmetadata+xml")
        root: Any = etree.fromstring(answer.content)
        assert root.get("entityID") == "http://localhost:8000/saml/acme/shop"
        assert certificates_in(answer) == [body_of(created.json["public_key"])]
        locations = root.xpath("//md:SingleSignOnService/@Location", namespaces=NAMESPACES)
        assert locations == ["http://localhost:8000/saml/acme/shop/sso"] * 2

    async def test_the_previous_certificate_is_published_for_seven_days(self, shop: Team, clock: SettableClock) -> None:
        first = body_of((await create(shop)).json["public_key"])
        second = body_of((await create(shop)).json["public_key"])

        assert certificates_in(await metadata(shop)) == [second, first]
        clock.now += timedelta(days=7)
        assert certificates_in(await metadata(shop)) == [second]

    @pytest.mark.long
    async def test_certificates_that_are_no_longer_published_are_deleted_by_the_next_change(
        self, shop: Team, clock: SettableClock
    ) -> None:
        for _ in range(3):
            await create(shop)
            clock.now += timedelta(days=4)
            shop.tokens.clear()

        [(certificates,)] = shop.world.connection.execute("SELECT count(*) FROM saml_certificates").fetchall()
        assert certificates == 2 + 1

        clock.now += timedelta(days=8)
        shop.tokens.clear()
        await create(shop)
        [(certificates,)] = shop.world.connection.execute("SELECT count(*) FROM saml_certificates").fetchall()
        assert certificates == 2

    async def test_there_are_none_without_a_certificate_or_when_saml_is_off(self, shop: Team) -> None:
        without = await metadata(shop)
        await create(shop)
        await shop.request("owner", "POST", SAML, body={"enabled": False})

        for answer in (without, await metadata(shop), await metadata(shop, "nowhere")):
            assert_refused(answer, 404, "NOT_FOUND")

    async def test_there_are_none_of_an_organization_that_is_not_active(self, shop: Team) -> None:
        await create(shop)
        shop.world.connection.execute("UPDATE organizations SET status = 'suspended'")

        assert_refused(await metadata(shop), 403, "ORGANIZATION_NOT_ACTIVE")

    @pytest.mark.long
    async def test_two_services_and_two_tenants_have_certificates_of_their_own(self, shop: Team) -> None:
        other = shop.world.team("globex")
        other.add("rival", "owner")
        shop.world.service(other.organization_id)
        shop.world.service(shop.organization_id, "blog")
        found = [certificates_in(await metadata(shop)) for _ in [await create(shop)]]
        for team, by, service in ((other, "rival", "shop"), (shop, "owner", "blog")):
            path = f"/services/{service}/saml"
            await team.request(by, "POST", path, body=ENABLED)
            await team.request(by, "POST", f"{path}/certificate")
            found.append(certificates_in(await metadata(team, service)))

        assert len({pem for [pem] in found}) == 3
