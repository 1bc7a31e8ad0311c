"""The SAML configuration of a service."""

from __future__ import annotations

from typing import Any

import pytest

from core.saml.messages import NameIdFormat
from tests.application import Answer
from tests.clock import SettableClock
from tests.service_provider import EMAIL_FORMAT, ServiceProvider, key_pair
from tests.world.team import Team
from tests.world.world import assert_refused

SAML = "/services/shop/saml"
ENABLED = {"enabled": True, "entity_id": "https://sp.example/metadata", "acs_url": "https://sp.example/acs"}
DEFAULTS = {
    "enabled": False,
    "entity_id": None,
    "acs_url": None,
    "slo_url": None,
    "slo_binding": "redirect",
    "name_id_format": None,
    "attribute_mapping": None,
    "sign_assertions": True,
    "sign_response": True,
    "sp_certificate": None,
    "members_only": True,
    "has_certificate": False,
}


@pytest.fixture
def shop(team: Team) -> Team:
    """The team with a service."""
    team.world.service(team.organization_id)
    return team


async def configure(shop: Team, *, by: str = "owner", **fields: Any) -> Answer:
    return await shop.request(by, "POST", SAML, body=ENABLED | fields)


async def configuration(shop: Team, *, by: str = "member") -> dict[str, Any]:
    answer = await shop.request(by, "GET", SAML)
    assert answer.status == 200, answer.text
    return answer.json


def changes_of(shop: Team) -> list[str]:
    """Return what the audit log says was changed, in order."""
    return [details["change"] for (details,) in shop.world.audit_entries("saml_configuration.updated", "details")]


class TestConfigure:
    """POST …/saml."""

    async def test_a_service_begins_with_the_defaults(self, shop: Team) -> None:
        assert await configuration(shop) == DEFAULTS

    async def test_all_settings_are_stored(self, shop: Team) -> None:
        certificate = key_pair("sp").certificate_pem
        settings = {
            "slo_url": "https://sp.example/slo",
            "slo_binding": "post",
            "name_id_format": NameIdFormat.PERSISTENT,
            "attribute_mapping": {"email": "mail", "role": "urn:oid:1.2.3", "customer.service_roles": "roles"},
            "sign_assertions": False,
            "sign_response": True,
            "sp_certificate": certificate,
            "members_only": False,
        }

        answer = await configure(shop, by="admin", **settings)

        assert (answer.status, answer.json["success"]) == (200, True), answer.text
        assert await configuration(shop) == DEFAULTS | ENABLED | settings

    async def test_what_is_not_named_stays_and_null_sets_the_default(self, shop: Team) -> None:
        certificate = key_pair("sp").certificate_pem
        await configure(shop, slo_url="https://sp.example/slo", sp_certificate=certificate, members_only=False)

        await configure(shop, slo_url=None, members_only=None, slo_binding=None)

        found = await configuration(shop)
        assert (found["slo_url"], found["members_only"], found["slo_binding"]) == (None, True, "redirect")
        assert found["sp_certificate"] == certificate

    async def test_disabling_needs_no_address_and_keeps_the_settings(self, shop: Team) -> None:
        await configure(shop)

        answer = await shop.request("owner", "POST", SAML, body={"enabled": False})

        assert answer.status == 200
        assert await configuration(shop) == DEFAULTS | ENABLED | {"enabled": False}

    async def test_a_service_without_settings_can_be_disabled(self, shop: Team) -> None:
        assert (await shop.request("owner", "POST", SAML, body={"enabled": False})).status == 200
        assert await configuration(shop) == DEFAULTS

    async def test_one_that_is_off_is_enabled_as_it_is(self, shop: Team) -> None:
        await configure(shop)
        await shop.request("owner", "POST", SAML, body={"enabled": False})

        answer = await shop.request("owner", "POST", SAML, body={"enabled": True})

        assert answer.status == 200
        assert await configuration(shop) == DEFAULTS | ENABLED

    async def test_one_that_is_not_there_is_not_enabled(self, shop: Team) -> None:
        answer = await shop.request("owner", "POST", SAML, body={"enabled": True})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.invalid_fields == ["entity_id", "acs_url"]

    async def test_one_that_is_enabled_is_named_whole(self, shop: Team) -> None:
        await configure(shop)

        answer = await shop.request("owner", "POST", SAML, body={"enabled": True})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.invalid_fields == ["entity_id", "acs_url"]

    @pytest.mark.parametrize("name", ["emailAddress", EMAIL_FORMAT])
    async def test_a_format_is_taken_by_its_long_or_short_name(self, shop: Team, name: str) -> None:
        await configure(shop, name_id_format=name)

        assert (await configuration(shop))["name_id_format"] == EMAIL_FORMAT

    async def test_an_invalid_setting_is_refused_by_its_name(self, shop: Team, subtests: pytest.Subtests) -> None:
        cases: list[tuple[str, Any]] = [
            ("entity_id", ""),
            ("entity_id", "with blanks"),
            ("entity_id", "x" * 1025),
            ("acs_url", "sp.example/acs"),
            ("acs_url", "http://sp.example/acs"),
            ("acs_url", "javascript:alert(1)"),
            ("acs_url", "https://sp.example/acs#a"),
            ("acs_url", "https://user@sp.example/acs"),
            ("acs_url", 'https://sp.example/"><script>'),
            ("slo_url", "ftp://sp.example/slo"),
            ("slo_binding", "soap"),
            ("name_id_format", "urn:kerberos"),
            ("name_id_format", "x:emailAddress"),
            ("attribute_mapping", {"password_hash": "p"}),
            ("attribute_mapping", {"customer.organization_id": "o"}),
            ("attribute_mapping", {"email": "a", "id": "a"}),
            ("attribute_mapping", {"email": ""}),
            ("attribute_mapping", {"email": "a b"}),
            ("attribute_mapping", {"email": "x" * 256}),
            ("sp_certificate", "no certificate"),
            ("sp_certificate", key_pair("short", 1024).certificate_pem),
        ]
        for field, value in cases:
            with subtests.test(field=field, value=value):
                answer = await configure(shop, **{field: value})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == [field]
                assert await configuration(shop) == DEFAULTS

    async def test_an_answer_without_any_signature_is_not_configured(self, shop: Team) -> None:
        answer = await configure(shop, sign_assertions=False, sign_response=False)

        assert_refused(answer, 400, "BAD_REQUEST")

    async def test_addresses_of_the_own_machine_may_be_plain_http(self, shop: Team) -> None:
        assert (await configure(shop, acs_url="http://localhost:8080/acs")).status == 200

    async def test_who_may_not_change_it_is_refused_before_the_certificate_is_read(self, shop: Team) -> None:
        answer = await configure(shop, by="member", sp_certificate="no certificate")

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_a_change_is_recorded_as_a_change_of_the_service(self, shop: Team) -> None:
        await configure(shop)

        [(target, details)] = shop.world.audit_entries("saml_configuration.updated", "target_type", "details")
        assert target == "service"
        assert details == {
            "service_slug": "shop",
            "change": "saml_configured",
            "enabled": True,
            "entity_id": "https://sp.example/metadata",
            "acs_url": "https://sp.example/acs",
            "changes": {
                "enabled": {"from": False, "to": True},
                "entity_id": {"from": None, "to": "https://sp.example/metadata"},
                "acs_url": {"from": None, "to": "https://sp.example/acs"},
            },
        }

    async def test_another_tenant_s_service_has_a_configuration_of_its_own(self, shop: Team) -> None:
        other = shop.world.team("globex")
        other.add("rival", "owner")
        other.world.service(other.organization_id)
        await configure(shop)

        assert await configuration(other, by="rival") == DEFAULTS
        assert_refused(await other.request("owner", "GET", SAML), 403, "FORBIDDEN")


class TestDisable:
    """DELETE …/saml."""

    async def test_it_is_switched_off_and_its_certificates_are_deactivated(self, shop: Team) -> None:
        await configure(shop)
        await shop.request("owner", "POST", f"{SAML}/certificate")

        answer = await shop.request("owner", "DELETE", SAML)

        assert (answer.status, answer.json["success"]) == (200, True)
        assert await configuration(shop) == DEFAULTS | ENABLED | {"enabled": False}
        assert_refused(await shop.request("owner", "GET", f"{SAML}/certificate"), 404, "NOT_FOUND")
        assert changes_of(shop) == ["saml_configured", "saml_disabled"]

    async def test_what_was_never_configured_can_be_disabled(self, shop: Team) -> None:
        assert (await shop.request("owner", "DELETE", SAML)).status == 200


class TestImport:
    """POST …/saml/metadata."""

    async def test_metadata_fill_the_configuration_and_enable_nothing(self, shop: Team, clock: SettableClock) -> None:
        provider = ServiceProvider(now=clock, idp="unused")
        document = provider.metadata(inside=provider.key_descriptor(), AuthnRequestsSigned="true")

        answer = await shop.request("owner", "POST", f"{SAML}/metadata", body={"metadata": document})

        assert answer.status == 200, answer.text
        assert answer.json == DEFAULTS | {
            "entity_id": provider.entity_id,
            "acs_url": provider.acs_url,
            "slo_url": provider.slo_url,
            "slo_binding": "post",
            "name_id_format": EMAIL_FORMAT,
            "sp_certificate": provider.key.certificate_pem,
        }
        assert await configuration(shop) == answer.json
        assert changes_of(shop) == ["saml_metadata_imported"]
        # What was imported is all that enabling takes.
        assert (await shop.request("owner", "POST", SAML, body={"enabled": True})).status == 200
        assert await configuration(shop) == answer.json | {"enabled": True}

    @pytest.mark.parametrize("media_type", ["application/samlmetadata+xml", "text/xml; charset=utf-8"])
    async def test_a_file_is_taken_as_it_is(self, shop: Team, clock: SettableClock, media_type: str) -> None:
        provider = ServiceProvider(now=clock, idp="unused")
        document = provider.metadata().encode("utf-8-sig")

        answer = await shop.request(
            "owner", "POST", f"{SAML}/metadata", data=document, headers={"Content-Type": media_type}
        )

        assert answer.status == 200, answer.text
        assert answer.json["entity_id"] == provider.entity_id

    async def test_a_file_that_is_no_text_is_refused(self, shop: Team) -> None:
        answer = await shop.request(
            "owner", "POST", f"{SAML}/metadata", data=b"\xff\xfe", headers={"Content-Type": "text/xml"}
        )

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.invalid_fields == ["metadata"]

    async def test_metadata_of_some_hundred_kilobytes_are_taken(self, shop: Team, clock: SettableClock) -> None:
        provider = ServiceProvider(now=clock, idp="unused")
        document = provider.metadata(inside=f"<md:Extensions>{'x' * 300_000}</md:Extensions>")

        answer = await shop.request("owner", "POST", f"{SAML}/metadata", body={"metadata": document})

        assert answer.status == 200, answer.text

    async def test_what_is_no_metadata_is_refused(self, shop: Team, subtests: pytest.Subtests) -> None:
        for case, document in (
            ("empty", ""),
            ("no XML", "no XML"),
            ("DTD", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'),
            ("deep", "<a>" * 5000),
        ):
            with subtests.test(case):
                answer = await shop.request("owner", "POST", f"{SAML}/metadata", body={"metadata": document})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == ["metadata"]

    async def test_addresses_in_metadata_are_judged_like_typed_ones(self, shop: Team, clock: SettableClock) -> None:
        provider = ServiceProvider(now=clock, idp="unused", acs_url="javascript:alert(1)")

        answer = await shop.request("owner", "POST", f"{SAML}/metadata", body={"metadata": provider.metadata()})

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.invalid_fields == ["acs_url"]
