"""Metadata as products publish them are imported: of identity providers, and of service providers.

`tests/saml_metadata/README.md` says where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.world.team import Team
from tests.world.world import assert_refused

FOLDER = Path(__file__).parents[2] / "saml_metadata"
# When the aggregates of federations from which two files come were valid.
IN_2014 = datetime(2014, 3, 1, tzinfo=UTC)
TENANT = "9f2d0d4e-0000-4000-8000-000000000001"


@dataclass(frozen=True, kw_only=True)
class Published:
    """A file, and what a connection, or the configuration of a service, gets from it."""

    file: str
    expected: dict[str, Any]
    at: datetime | None = None
    replaced: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The metadata; Entra's has the id of a tenant."""
        text = (FOLDER / self.file).read_text("utf-8")
        for old, new in self.replaced:
            text = text.replace(old, new)
        return text


ENTRA = Published(
    file="entra.xml",
    expected={"issuer": f"https://sts.windows.net/{TENANT}/", "signs_requests": False},
    replaced=(("{tenantid}", TENANT), ("/common/", f"/{TENANT}/")),
)
IDENTITY_PROVIDERS = (
    Published(
        file="adfs.xml",
        expected={
            "issuer": "https://fs.testad.umu.se/adfs/services/trust",
            "signs_requests": False,
            "metadata_valid_until": None,
        },
    ),
    ENTRA,
    Published(file="okta.xml", expected={"issuer": "http://www.okta.com/exk9u78i8aMSxvkV70h7", "signs_requests": True}),
    Published(
        file="shibboleth.xml",
        expected={"issuer": "https://kiidp.ki.se/idp/shibboleth", "metadata_valid_until": "2014-03-08T10:30:05Z"},
        at=IN_2014,
    ),
    Published(file="simplesamlphp-idp.xml", expected={"issuer": "https://idp-test.feide.no", "signs_requests": False}),
)
SERVICE_PROVIDERS = (
    Published(
        file="adfs.xml",
        expected={
            "entity_id": "https://fs.testad.umu.se/adfs/services/trust",
            "acs_url": "https://fs.testad.umu.se/adfs/ls/",
        },
    ),
    Published(
        file="shibboleth.xml",
        expected={
            "entity_id": "https://account.mdh.se/shibboleth",
            "acs_url": "https://account.mdh.se/Shibboleth.sso/SAML2/POST",
        },
        at=IN_2014,
    ),
    Published(
        file="shibboleth-sp.xml",
        expected={
            "entity_id": "https://akka-anv.uu.se/shibboleth",
            "acs_url": "https://akka-anv.uu.se/Shibboleth.sso/SAML2/POST",
            "slo_url": "https://akka-anv.uu.se/Shibboleth.sso/SLO/Redirect",
        },
    ),
    Published(
        file="simplesamlphp-sp.xml",
        expected={"entity_id": "https://pse-test.electricpaper.de"},
        at=IN_2014,
    ),
)


async def connect(team: Team, text: str) -> Answer:
    body = {"type": "saml", "name": "Acme", "metadata_xml": text}
    return await team.request("owner", "POST", "/upstream-providers", body=body)


async def configure(team: Team, text: str) -> Answer:
    team.world.service(team.organization_id)
    return await team.request("owner", "POST", "/services/shop/saml/metadata", body={"metadata": text})


@pytest.mark.parametrize("published", IDENTITY_PROVIDERS, ids=lambda one: one.file)
async def test_the_metadata_of_an_identity_provider_become_a_connection(
    team: Team, clock: SettableClock, published: Published
) -> None:
    clock.now = published.at or clock.now

    answer = await connect(team, published.text)

    assert answer.status == 200, answer.text
    assert {name: answer.json[name] for name in published.expected} == published.expected
    assert answer.json["enabled"] is True


@pytest.mark.parametrize("published", SERVICE_PROVIDERS, ids=lambda one: one.file)
async def test_the_metadata_of_a_service_provider_fill_the_configuration(
    team: Team, clock: SettableClock, published: Published
) -> None:
    clock.now = published.at or clock.now

    answer = await configure(team, published.text)

    assert answer.status == 200, answer.text
    assert {name: answer.json[name] for name in published.expected} == published.expected


async def test_metadata_that_have_expired_are_refused_on_either_side(team: Team) -> None:
    text = (FOLDER / "shibboleth.xml").read_text("utf-8")

    for answer in (await connect(team, text), await configure(team, text)):
        assert_refused(answer, 400, "BAD_REQUEST")
        assert "have expired on 2014-03-08" in answer.json["details"][0]["message"]


async def test_the_metadata_of_no_tenant_are_refused_with_what_to_use_instead(team: Team) -> None:
    answer = await connect(team, (FOLDER / ENTRA.file).read_text("utf-8"))

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "for your own tenant" in answer.json["details"][0]["message"]


def test_each_file_is_imported_and_has_its_source() -> None:
    files = {one.name for one in FOLDER.glob("*.xml")}

    assert {one.file for one in (*IDENTITY_PROVIDERS, *SERVICE_PROVIDERS)} == files
    sources = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"| `{file}` |" in sources for file in files)
