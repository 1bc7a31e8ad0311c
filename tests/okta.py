"""A stand-in of Okta at a company: it signs people in by OpenID Connect and by SAML, and provisions people and groups.

The test gives it what its administrator copies from the pages of a setup, and types there what it publishes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import BrowserContext, Route

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider, asked
from tests.openid_provider import OpenIdProvider, running_openid_provider
from tests.world.directory import GROUP, SCIM_JSON, USER

ANSWER_SECONDS_MAX = 60


@dataclass
class Okta:
    """The organization of a company at Okta, with one person and one group of it."""

    openid: OpenIdProvider
    saml: IdentityProvider
    email: str = "ada@acme.example"
    group: str = "Sales"

    def answer_in(self, context: BrowserContext) -> None:
        """Answer the requests of a browser for the sign-in page by SAML, which has a button and no script."""
        context.route("https://idp.acme.example/**", self._answer)

    def provision(self, base_url: str, token: str) -> None:
        """Create the person, then push the group with the person in it."""
        user = {"schemas": [USER], "userName": self.email, "active": True, "externalId": "00u1"}
        person = self._send(f"{base_url}/Users", token, user)
        members = [{"value": person["id"]}]
        self._send(f"{base_url}/Groups", token, {"schemas": [GROUP], "displayName": self.group, "members": members})

    def _send(self, address: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": SCIM_JSON}
        request = Request(address, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=ANSWER_SECONDS_MAX) as answer:
            return json.load(answer)

    def _answer(self, route: Route) -> None:
        request = asked(route.request.url)
        response = replace(self.saml, attributes={"email": self.email}).answer(request)
        fields = {"SAMLResponse": base64.b64encode(response.encode()).decode(), "RelayState": request.relay_state}
        inputs = "".join(f'<input type="hidden" name="{name}" value="{escape(text)}">' for name, text in fields.items())
        form = f'<form method="post" action="{escape(request.acs_url)}">{inputs}<button>Allow</button></form>'
        route.fulfill(status=200, content_type="text/html", body=f"<!doctype html>{form}")


@contextmanager
def running_okta(clock: SettableClock) -> Generator[Okta]:
    """Run a stand-in of Okta."""
    with running_openid_provider() as provider:
        yield Okta(openid=provider, saml=IdentityProvider(now=clock))
