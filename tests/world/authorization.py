"""Browsers on the way to a service: the address that the service sends them to, and what they bring back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

from tests.application import Answer
from tests.world.builder import EMAIL
from tests.world.relying_party import CHALLENGE, PKCE, REDIRECT_URI, RelyingParty
from tests.world.visitor import Visitor, forms_of

ISSUER = "http://localhost:8000"


def address_of(party: RelyingParty, **parameters: str) -> str:
    """Return the address to which the service sends a browser."""
    given = {
        "client_id": str(party.client_id),
        "response_type": "code",
        "redirect_uri": REDIRECT_URI,
        "scope": "openid email",
        "state": "s-1",
        "nonce": "n-1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **parameters,
    }
    return f"/auth/authorize?{urlencode({name: value for name, value in given.items() if value})}"


def led_back(answer: Answer, redirect_uri: str = REDIRECT_URI) -> dict[str, str]:
    """Return the parameters with which the browser goes back to the service."""
    if answer.status == 303:
        address = answer.headers["Location"]
    else:
        assert answer.status == 200, answer.text
        address = answer.headers["Refresh"].partition("; url=")[2]
    assert address.startswith(redirect_uri), address
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def posted_back(answer: Answer, redirect_uri: str = REDIRECT_URI) -> dict[str, str]:
    """Return the fields that the browser posts to the service."""
    assert answer.status == 200, answer.text
    [form] = forms_of(answer)
    assert form.action == redirect_uri, form.action
    return form.fields


async def push(party: RelyingParty, **parameters: str) -> str:
    """Push a request of a service, and return the address to which the service sends a browser with its reference."""
    pushed = {"response_type": "code", "redirect_uri": REDIRECT_URI, "scope": "openid", "state": "s-1", **PKCE}
    answer = await party.post("/auth/par", {**pushed, **parameters})
    assert answer.status == 201, answer.text
    query = {"client_id": str(party.client_id), "request_uri": answer.json["request_uri"]}
    return f"/auth/authorize?{urlencode(query)}"


async def sign_in(visitor: Visitor, party: RelyingParty, *, email: str = EMAIL, **parameters: str) -> dict[str, str]:
    """Sign in on the way to a service, and return what comes back."""
    return led_back(await visitor.sign_in(email, path=address_of(party, **parameters)))
