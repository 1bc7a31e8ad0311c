"""What a test asks of Gatehouse: people and organizations to test with, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal, TypeVar

import httpx

from gatehouse_client.testing import code_flow, setup_pages
from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.made_customers import MadeCustomers
from gatehouse_client.testing.pages import submitted, walk
from gatehouse_client.testing.parties import MadeCustomer, Organization, Person, Product
from gatehouse_client.testing.providers import CLIENT_ID, EntraProvider, IdentityProvider, OktaProvider
from gatehouse_client.testing.requests import KitFailed
from gatehouse_client.testing.webhooks import WebhookReceiver

Protocol = Literal["oidc", "saml"]
Connected = TypeVar("Connected", bound=IdentityProvider)

COOKIE: Final = "gatehouse_session"


class GatehouseKit(MadeCustomers):
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

    def okta(
        self,
        organization: str | Organization | MadeCustomer,
        domain: str | None = None,
        *,
        protocol: Protocol = "oidc",
        setup_link: str | None = None,
    ) -> OktaProvider:
        """Return an identity provider like Okta, by OpenID Connect or SAML, connected for a mail domain.

        A customer that was made is connected by the program that has made it, or with a setup link by its IT staff.
        Without a domain it is connected to nothing yet.
        """
        return self._connected(OktaProvider(), organization, domain, protocol, setup_link)

    def entra(
        self,
        organization: str | Organization | MadeCustomer,
        domain: str | None = None,
        *,
        protocol: Protocol = "oidc",
        setup_link: str | None = None,
    ) -> EntraProvider:
        """Return an identity provider like Microsoft Entra, in the same way."""
        return self._connected(EntraProvider(), organization, domain, protocol, setup_link)

    def _connected(
        self,
        provider: Connected,
        organization: str | Organization | MadeCustomer,
        domain: str | None,
        protocol: Protocol,
        setup_link: str | None,
    ) -> Connected:
        of = organization if isinstance(organization, MadeCustomer) else self._required(organization)
        provider.start()
        self._opened.append(provider)
        provider.clock = self.clock
        provider.redirect_uri = f"{self.base_url}/auth/upstream/callback"
        if domain is None:
            return provider
        fields = {"name": f"{of.name} {provider.product}", **_particulars(provider, protocol)}
        if setup_link is not None:
            if not isinstance(of, MadeCustomer):
                raise KitFailed("a setup link is of a customer that was made: name it by made_customer()")
            self._set_up_by_link(of, provider, domain, fields, setup_link)
            return provider
        if isinstance(of, MadeCustomer):
            made = self._set_up(of, "POST", "/connections", {"type": protocol, **fields})
        else:
            # Who comes by it becomes a member, as with the directories of most customers.
            body = {"type": protocol, **fields, "joins_as": "member"}
            made = self.ask(of.owner, "POST", f"/api/organizations/{of.slug}/upstream-providers", body)
        provider.connection_id = made["id"]
        self.prove_domain(of, domain, connection_id=provider.connection_id)
        return provider

    def _set_up_by_link(
        self, customer: MadeCustomer, provider: IdentityProvider, domain: str, fields: dict[str, str], link: str
    ) -> None:
        """Connect a provider and prove a mail domain on the pages of a setup link."""
        tester = provider.add(f"it@{domain}").email
        kind = f"{provider.word}-saml" if "metadata_xml" in fields else provider.word
        with self.browser() as browser:
            setup_pages.begin(browser, link)
            provider.connection_id = setup_pages.connect(browser, self.base_url, provider, kind, fields, tester)
            publish = partial(self._publish_records, customer)
            setup_pages.prove_domain(browser, self.base_url, domain, provider.connection_id, publish)
        del provider.people[tester]
        provider.sign_in_as(None)


def _particulars(provider: IdentityProvider, protocol: Protocol) -> dict[str, str]:
    """Return what a connection says of a provider."""
    if protocol == "saml":
        return {"metadata_xml": provider.metadata_xml}
    return {"issuer": provider.issuer, "client_id": CLIENT_ID, "client_secret": provider.client_secret}
