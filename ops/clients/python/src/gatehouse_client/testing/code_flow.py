"""The code flow of a product that does not run: the kit is its browser and its backend (RFC 6749, RFC 7636)."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx

from gatehouse_client.testing.pages import Visitor, onward, walk
from gatehouse_client.testing.parties import Product
from gatehouse_client.testing.requests import KitFailed

STATE: Final = "tests"
# The pair of RFC 7636, appendix B.
VERIFIER: Final = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE: Final = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def arrival(base_url: str, product: Product, visitor: Visitor, *, customer: str | None = None) -> str:
    """Sign a visitor in to a product, and return the address with the code at which their browser arrives there."""
    query = {
        "response_type": "code",
        "client_id": product.client_id,
        "redirect_uri": product.redirect_uri,
        "scope": "openid email",
        "state": STATE,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **({"customer": customer} if customer is not None else {}),
    }
    with httpx.Client(timeout=60.0) as browser:
        page = browser.get(f"{base_url}/auth/authorize", params=query)
        return str(onward(walk(browser, page, visitor, until=product.redirect_uri)))


def exchanged(base_url: str, product: Product, address: str) -> dict[str, Any]:
    """Return the tokens for the code in an address."""
    said = parse_qs(urlsplit(address).query)
    if "code" not in said:
        raise KitFailed(f"{product.slug} got no code: {address}")
    form = {"grant_type": "authorization_code", "code": said["code"][0], "code_verifier": VERIFIER}
    return tokens_for(base_url, product, {**form, "redirect_uri": product.redirect_uri})


def tokens_for(base_url: str, product: Product, form: dict[str, str]) -> dict[str, Any]:
    """Ask for tokens as a product, and return the whole answer."""
    has_secret = product.client_secret != ""
    answer = httpx.post(
        f"{base_url}/auth/token",
        data=form if has_secret else {**form, "client_id": product.client_id},
        auth=(product.client_id, product.client_secret) if has_secret else None,
        timeout=60.0,
    )
    if answer.is_error:
        raise KitFailed(f"no token for {product.slug}: {answer.text}")
    return answer.json()
