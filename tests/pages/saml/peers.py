"""What the tests with independent service providers share: a service for one, and the steps of a browser."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

from tests.application import Answer
from tests.clock import SettableClock
from tests.service_provider import PostedForm, key_pair, posted_form
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

MEMBER = "member@example.com"


async def service_of(team: Team, saml: SamlWorld, clock: SettableClock) -> SamlService:
    """Return a service whose requests are signed; a program of others looks at the real time."""
    clock.now = datetime.now(UTC)
    return await saml.service(
        team.organization_id,
        "acme",
        sp_certificate=key_pair("sp of shop.acme").certificate_pem,
        attribute_mapping={"email": "mail", "role": "role"},
    )


async def metadata_of(service: SamlService) -> str:
    """Return the metadata of the identity provider."""
    answer = await service.world.client.get(f"{service.path}/metadata")
    assert answer.status == 200, answer.text
    return answer.text


async def follow(browser: Visitor, url: str, base_url: str) -> PostedForm:
    """Open an address of Gatehouse, and return the form with its answer."""
    assert url.startswith(f"{base_url}/"), url
    page = await browser.open(url.removeprefix(base_url))
    assert page.status == 200, page.text
    return posted_form(page.text)


def next_address(answer: Answer) -> str:
    """Return the address to which an answer leads a browser, by a redirect or a page that goes on by itself."""
    if answer.status == 200:
        return answer.headers["Refresh"].removeprefix("0; url=")
    assert answer.status == 303, answer.text
    return answer.headers["Location"]


def query_of(url: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
