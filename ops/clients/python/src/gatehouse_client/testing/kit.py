"""What a test asks of Gatehouse: people and organizations to test with, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

import httpx

from gatehouse_client.testing import code_flow
from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.named_parties import NamedParties
from gatehouse_client.testing.pages import submitted, walk
from gatehouse_client.testing.parties import Organization, Person, Product
from gatehouse_client.testing.providers import CLIENT_ID, EntraProvider, IdentityProvider, OktaProvider
from gatehouse_client.testing.requests import KitFailed
from gatehouse_client.testing.webhooks import WebhookReceiver

Protocol = Literal["oidc", "saml"]
Connected = TypeVar("Connected", bound=IdentityProvider)

COOKIE: Final = "gatehouse_session"


class GatehouseKit(NamedParties):
    """A throw-away instance in the state that the test has made of it.

    Whatever is named (an organization, a person, a product) is made when it is named the first time.
    """

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._opened: list[WebhookReceiver | IdentityProvider] = []

    def close(self) -> None:
        """Stop the receivers of webhooks and the identity providers."""
        for one in self._opened:
            one.close()

    def client_token(self, product: str | Product, **parameters: str) -> str:
        """Return an access token of a product itself, by its client id and secret."""
        form = {"grant_type": "client_credentials", **parameters}
        return code_flow.tokens_for(self.base_url, self._product(product), form)["access_token"]

    def sign_in_by(self, provider: IdentityProvider, person: str | Person, product: str | Product) -> str:
        """Sign a person in by a provider, and return the address with the code at which they arrive at a product.

        The product need not run; `code_flow.VERIFIER` belongs to the code.
        """
        return code_flow.arrival(self.base_url, self._product(product), self._visitor(person, provider))

    def cookie(self, person: str | Person) -> dict[str, Any]:
        """Sign a person in on the pages, and return the cookie for `context.add_cookies` of Playwright."""
        visitor = self._visitor(person)
        with self.browser() as browser:
            walk(browser, browser.get(f"{self.base_url}/app/sign-in"), visitor)
            value = browser.cookies.get(COOKIE)
        if value is None:
            raise KitFailed(f"{visitor.email} could not sign in on the pages; they have: {', '.join(browser.cookies)}")
        return {"name": COOKIE, "value": value, "url": self.base_url, "httpOnly": True, "sameSite": "Lax"}

    def browser(self) -> httpx.Client:
        """Return a browser without a screen: it keeps cookies and follows redirects."""
        # Servers for development close connections that they had promised to keep.
        return httpx.Client(
            follow_redirects=True,
            timeout=60.0,
            headers={"Accept": "text/html,*/*;q=0.8"},
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def visit(
        self,
        browser: httpx.Client,
        url: str,
        person: str | Person,
        *,
        provider: IdentityProvider | None = None,
    ) -> httpx.Response:
        """Open a page of your running product, sign a person in, and return the page that follows.

        The person signs in by their password, or by a provider, to which they are known by their address.
        """
        return walk(browser, browser.get(url), self._visitor(person, provider))

    def plan(self, product: str | Product, name: str, *, price_cents: int = 900, features: Sequence[str] = ()) -> str:
        """Make a plan of a product that can be bought in the sandbox, and return its id."""
        sold = self._product(product)
        body = {
            "name": name,
            "price_cents": price_cents,
            "features": list(features),
            "billing_price_id": f"price_{name}",
        }
        path = f"/api/organizations/{sold.organization.slug}/services/{sold.slug}/plans"
        return self.ask(sold.organization.owner, "POST", path, body)["id"]

    def pay(self, checkout_url: str) -> str:
        """Press "Pay" at a checkout in the sandbox, and return the address to which it leads the browser."""
        with httpx.Client(timeout=60.0) as browser:
            page = browser.get(checkout_url)
            return submitted(browser, page, page.url.path).headers["Location"]

    def api_key(self, product: str | Product, *permissions: str) -> str:
        """Return an API key of a product, with which its backend calls the interface of services."""
        sold = self._product(product)
        path = f"/api/organizations/{sold.organization.slug}/services/{sold.slug}/api-keys"
        body = {"name": "Tests", "permissions": list(permissions)}
        return self.ask(sold.organization.owner, "POST", path, body)["key"]

    def webhook(self, organization: str | Organization, *events: str) -> WebhookReceiver:
        """Return a receiver of the events of an organization: of all types, or of these."""
        of, receiver = self._required(organization), WebhookReceiver()
        self._opened.append(receiver)
        path = f"/api/organizations/{of.slug}/webhooks"
        wanted = events or [
            one["value"] for one in self.ask(of.owner, "GET", f"{path}/event-types") if one["value"] != "webhook.test"
        ]
        body = {"name": "Tests", "url": receiver.url, "events": list(wanted)}
        receiver.secret = self.ask(of.owner, "POST", path, body)["secret"]
        return receiver

    def okta(self, organization: str | Organization, domain: str, *, protocol: Protocol = "oidc") -> OktaProvider:
        """Return an identity provider like Okta, by OpenID Connect or SAML, connected for a mail domain."""
        return self._connected(OktaProvider(), organization, domain, protocol)

    def entra(self, organization: str | Organization, domain: str, *, protocol: Protocol = "oidc") -> EntraProvider:
        """Return an identity provider like Microsoft Entra, likewise."""
        return self._connected(EntraProvider(), organization, domain, protocol)

    def _connected(
        self, provider: Connected, organization: str | Organization, domain: str, protocol: Protocol
    ) -> Connected:
        of = self._required(organization)
        provider.start()
        self._opened.append(provider)
        provider.clock = self.clock
        provider.redirect_uri = f"{self.base_url}/auth/upstream/callback"
        if protocol == "oidc":
            particulars = {
                "issuer": provider.issuer,
                "client_id": CLIENT_ID,
                "client_secret": provider.client_secret,
            }
        else:
            particulars = {"metadata_xml": provider.metadata_xml}
        # Who comes by it becomes a member, as with the directories of most customers.
        body = {"type": protocol, "name": f"{of.name} {provider.product}", "joins_as": "member", **particulars}
        made = self.ask(of.owner, "POST", f"/api/organizations/{of.slug}/upstream-providers", body)
        provider.connection_id = made["id"]
        self.prove_domain(of, domain, connection_id=provider.connection_id)
        return provider
