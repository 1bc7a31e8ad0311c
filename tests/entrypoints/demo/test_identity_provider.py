"""The identity provider of a customer in the demo answers one client, and each of its codes is good once."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from quart_trio import QuartTrio

from entrypoints.demo.identity_provider import CALLBACK, CLIENT_ID, DemoIdentityProvider

PATH = "/idp"
ISSUER = "http://localhost:8001/idp"
CLIENT_SECRET = "the-secret-of-the-connection"
EMAIL = "lars@bolt.example"
VERIFIER = "correct-horse-battery-staple-correct-horse-battery"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
REQUEST = {
    "client_id": CLIENT_ID,
    "redirect_uri": f"http://localhost:8000{CALLBACK}",
    "state": "s-1",
    "nonce": "n-1",
    "code_challenge": CHALLENGE,
}


@pytest.fixture
def client() -> Any:
    """A client of an application that has the provider."""
    app = QuartTrio(__name__)
    provider = DemoIdentityProvider(
        "Bolt", (EMAIL,), issuer=ISSUER, client_secret=CLIENT_SECRET, gatehouse_url="http://localhost:8000"
    )
    provider.add_to(app, PATH)
    return app.test_client()


async def code_of(client: Any) -> str:
    """Sign in, and return the code with which the browser is led back."""
    led = await client.get(f"{PATH}/sign-in", query_string={**REQUEST, "as": EMAIL})
    return parse_qs(urlsplit(led.headers["Location"]).query)["code"][0]


async def redeem(client: Any, code: str, **others: str) -> Any:
    """Redeem a code, and return the answer."""
    form = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "code": code, "code_verifier": VERIFIER, **others}
    return await (await client.post(f"{PATH}/token", form=form)).get_json()


async def test_a_code_gives_a_signed_id_token_once(client: Any) -> None:
    code = await code_of(client)

    first, second = await redeem(client, code), await redeem(client, code)
    keys = jwt.PyJWKSet.from_dict(await (await client.get(f"{PATH}/keys")).get_json())
    claims = jwt.decode(first["id_token"], keys.keys[0], algorithms=["RS256"], audience=CLIENT_ID, issuer=ISSUER)

    assert (claims["email"], claims["nonce"]) == (EMAIL, "n-1")
    assert second == {"error": "invalid_grant"}


async def test_a_code_is_for_its_client_and_its_browser(client: Any) -> None:
    of_another = await redeem(client, await code_of(client), code_verifier="another")

    assert of_another == {"error": "invalid_grant"}
    assert await redeem(client, await code_of(client), client_secret="wrong") == {"error": "invalid_client"}


@pytest.mark.parametrize("change", [{"redirect_uri": "http://evil.example/"}, {"client_id": "another"}])
async def test_another_client_and_another_address_are_refused(client: Any, change: dict[str, str]) -> None:
    for path in ("authorize", "sign-in"):
        answer = await client.get(f"{PATH}/{path}", query_string={**REQUEST, "as": EMAIL, **change})

        assert (answer.status_code, answer.headers.get("Location")) == (400, None)


async def test_only_people_of_the_directory_sign_in(client: Any) -> None:
    answer = await client.get(f"{PATH}/sign-in", query_string={**REQUEST, "as": "eve@evil.example"})

    assert (answer.status_code, answer.headers.get("Location")) == (200, None)
