"""A service begins a sign-in by a connection of its organization, as by a provider of the platform."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.application import Answer
from tests.world.openid_acme import Acme
from tests.world.relying_party import CHALLENGE
from tests.world.upstream import parameters_of

ADA = "ada@acme.example"
REDIRECT_URI = "https://portal.example/callback"


async def begin(acme: Acme, **changes: str) -> Answer:
    """Begin a sign-in by the connection on behalf of a service, in the browser."""
    query = {
        "connection_id": acme.connection_id,
        "org": "acme",
        "service": "portal",
        "redirect_uri": REDIRECT_URI,
        "state": "of the service",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    return await acme.visitor.send("GET", f"/auth/upstream?{urlencode({k: v for k, v in query.items() if v})}")


@pytest.mark.parametrize("org", ["acme", ""])
async def test_the_browser_goes_on_with_the_request_of_the_service(acme: Acme, org: str) -> None:
    service = acme.world.service(acme.organization_id, "portal", redirect_uris=[REDIRECT_URI])

    page = await begin(acme, org=org)

    assert page.status == 303, page.text
    answer = await acme.visitor.send("GET", acme.provider.sign_in(page.headers["Location"]))
    location = answer.headers["Location"]
    assert location.startswith("/auth/authorize/continue?")
    assert parameters_of(location) == {
        "response_type": "code",
        "client_id": str(service.client_id),
        "redirect_uri": REDIRECT_URI,
        "state": "of the service",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }


async def test_a_device_is_led_to_its_page(acme: Acme) -> None:
    page = await begin(acme, service="", redirect_uri="", user_code="ABCD-EFGH")

    answer = await acme.visitor.send("GET", acme.provider.sign_in(page.headers["Location"]))

    assert answer.headers["Location"] == "/auth/device?user_code=ABCD-EFGH"


async def test_what_is_not_the_connection_s_or_not_registered_is_refused(acme: Acme) -> None:
    acme.world.service(acme.organization_id, "portal", redirect_uris=[REDIRECT_URI])
    acme.world.service(acme.world.organization("globex"), "other", redirect_uris=[REDIRECT_URI])

    assert (await begin(acme, org="globex", service="other")).status == 404
    assert (await begin(acme, service="other")).status == 404
    assert (await begin(acme, redirect_uri="https://evil.example")).status == 400
    assert (await begin(acme, code_challenge="short")).status == 400
    assert (await begin(acme, service="")).status == 400
    assert acme.world.rows("SELECT FROM upstream_sign_ins") == []


async def test_a_numeric_sub_is_refused(acme: Acme) -> None:
    acme.provider.claims = {"sub": 7, "email": ADA, "email_verified": True}

    page = await acme.sign_in()

    assert page.status == 502
    assert not acme.visitor.has_session
