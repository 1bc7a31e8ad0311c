"""What a test asks of Gatehouse: people and organizations to test with, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx

from gatehouse_client.testing.directory import Directory
from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.mailbox import Mailbox
from gatehouse_client.testing.pages import arrived, sign_in, submitted
from gatehouse_client.testing.parties import Organization, Person, Product
from gatehouse_client.testing.providers import CLIENT_ID, EntraProvider, IdentityProvider, OktaProvider
from gatehouse_client.testing.requests import KitFailed
from gatehouse_client.testing.webhooks import WebhookReceiver

Protocol = Literal["oidc", "saml"]
Connected = TypeVar("Connected", bound=IdentityProvider)

# Of everyone in the tests: it protects nothing.
PASSWORD: Final = "gatehouse for tests"  # noqa: S105
# Of a secret that nobody redeems.
CHALLENGE: Final = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
VERIFICATION: Final = "/auth/verify-email"
INVITATION: Final = "/invitations/accept"
COOKIE: Final = "gatehouse_session"


class Clock:
    """The clock of the instance, which the test moves; the machine's clock, and the one of the product, stay."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    @property
    def now(self) -> datetime:
        """The time of the instance."""
        return self._instance.advance(timedelta())

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Put it forward by a duration, or by `days=…`, `hours=…`, `minutes=…`, and return its time."""
        return self._instance.advance(by or timedelta(**parts))


class GatehouseKit:
    """A throw-away instance in the state that the test has made of it.

    Whatever is named (an organization, a person, a product) is made when it is named the first time.
    """

    def __init__(self, instance: Instance) -> None:
        self.base_url = instance.base_url
        self.clock = Clock(instance)
        self.mails = Mailbox(instance)
        self.instance = instance
        self._requests = instance.requests
        self._organizations: dict[str, Organization] = {}
        self._people: dict[str, Person] = {}
        self._products: dict[str, Product] = {}
        self._directories: dict[str, Directory] = {}
        self._members: dict[tuple[str, str], str] = {}
        self._opened: list[WebhookReceiver | IdentityProvider] = []

    def close(self) -> None:
        """Stop the receivers of webhooks and the identity providers."""
        for one in self._opened:
            one.close()

    def organization(self, slug: str, *, name: str | None = None, domain: str | None = None) -> Organization:
        """Return an active organization; `domain` is a mail domain that it has proved."""
        if slug not in self._organizations:
            owner = self.person(f"owner@{slug}.example")
            token = self.token(owner)
            made = self._requests.ask(
                "POST", "/api/organizations", {"slug": slug, "name": name or slug.title()}, token=token
            )["organization"]
            path = f"/api/platform/organizations/{made['id']}/approve"
            self._requests.ask("POST", path, {}, token=self._platform_token())
            self._organizations[slug] = Organization(id=made["id"], slug=slug, name=made["name"], owner=owner)
            self._members[slug, owner.email] = "owner"
        found = self._organizations[slug]
        if domain is not None:
            self.prove_domain(found, domain)
        return found

    def person(
        self,
        name: str,
        *,
        role: str = "member",
        organization: str | Organization | None = None,
        customer: str | Organization | None = None,
        groups: Iterable[str] = (),
    ) -> Person:
        """Return a person, by a short name or an address.

        `organization` is one whose member they are, with this role. `customer` is the same for one that uses the
        product of another organization. `groups` are those of its directory.
        """
        of = self._organization(organization if organization is not None else customer)
        email = name if "@" in name else f"{name}@{of.slug if of else 'people'}.example"
        if email not in self._people:
            self._people[email] = self._register(email)
        person = self._people[email]
        if of is not None and (of.slug, email) not in self._members:
            self._join(of, person, role)
        for group in groups:
            if of is None:
                raise KitFailed(f"{name} has groups of no organization: name it by organization= or customer=")
            self.directory(of).add_to_group(group, person.email)
        return person

    def product(
        self,
        slug: str = "product",
        *,
        organization: str | Organization = "vendor",
        redirect_uris: Sequence[str] = ("http://localhost:8080/callback",),
        customers: Iterable[str | Organization] = (),
        **fields: Any,
    ) -> Product:
        """Return a service that people sign in to; `customers` are organizations that use it.

        `fields` are those of the interface: `service_type`, `roles`, `scopes`, `claims`, `individuals` and others.
        """
        if slug not in self._products:
            of = self._required(organization)
            body = {
                "slug": slug,
                "name": slug.title(),
                "service_type": "web",
                "redirect_uris": list(redirect_uris),
                **fields,
            }
            made = self.ask(of.owner, "POST", f"/api/organizations/{of.slug}/services", body, organization=of)
            service = made["service"]
            self._products[slug] = Product(
                id=service["id"],
                slug=slug,
                organization=of,
                client_id=service["client_id"],
                client_secret=made.get("client_secret") or "",
                redirect_uri=next(iter(redirect_uris), ""),
            )
            for one in customers:
                self.customer(self._products[slug], one)
        return self._products[slug]

    def customer(
        self,
        product: str | Product,
        organization: str | Organization,
        *,
        roles: Mapping[str, Sequence[str]] | None = None,
    ) -> Organization:
        """Let an organization use a product; `roles` are those of the product for `everyone`, or for `role:admin`."""
        sold, buyer = self._product(product), self._required(organization)
        of = sold.organization
        service = f"/api/organizations/{of.slug}/services/{sold.slug}"
        if self.ask(of.owner, "GET", service)["customers"] == "none":
            self.ask(of.owner, "PATCH", service, {"customers": "listed"})
        self.ask(of.owner, "POST", f"{service}/customers", {"organization": buyer.slug})
        products = f"/api/organizations/{buyer.slug}/products"
        self.ask(buyer.owner, "POST", products, {"client_id": sold.client_id})
        if roles is not None:
            assignments = [{"subject": subject, "roles": list(given)} for subject, given in roles.items()]
            self.ask(buyer.owner, "PATCH", f"{products}/{sold.client_id}", {"assignments": assignments})
        return buyer

    def note(
        self,
        values: Mapping[str, Any] | None,
        *,
        organization: str | Organization | None = None,
        product: str | Product | None = None,
        person: str | Person | None = None,
        customer: str | Organization | None = None,
    ) -> dict[str, Any]:
        """Set metadata, which claims of a product can say, and return all that is noted there.

        It is about an `organization`, or by a `product` about a `person` who has signed in to it, or a `customer`.
        None as a value takes a name away, and None in place of all values takes all of them.
        """
        body = {"metadata": dict(values) if values is not None else None}
        if product is None:
            if organization is None:
                raise KitFailed("metadata is of an organization, or of a person or a customer of a product")
            of = self._required(organization)
            return self.ask(of.owner, "PATCH", f"/api/organizations/{of.slug}", body)["organization"]["metadata"]
        sold = self._product(product)
        service = f"/api/organizations/{sold.organization.slug}/services/{sold.slug}"
        if customer is not None:
            slug = self._required(customer).slug
            listed = self.ask(sold.organization.owner, "GET", f"{service}/customers?limit=100&q={slug}")["customers"]
            known = [one["id"] for one in listed if one["organization"]["slug"] == slug]
            if not known:
                raise KitFailed(f"{slug} is no customer of {sold.slug}: make it one by customer()")
            path = f"{service}/customers/{known[0]}"
        elif person is not None:
            who = person if isinstance(person, Person) else self.person(person)
            path = f"{service}/users/{who.id}"
        else:
            raise KitFailed("a product notes something about a person, or about a customer")
        return self.ask(sold.organization.owner, "PATCH", path, body)["metadata"]

    def token(
        self,
        person: str | Person,
        *,
        product: str | Product | None = None,
        organization: str | Organization | None = None,
        customer: str | Organization | None = None,
    ) -> str:
        """Sign a person in by their password, and return an access token: for a product, for a customer there."""
        return self.sign_in(person, product=product, organization=organization, customer=customer)["access_token"]

    def sign_in(
        self,
        person: str | Person,
        *,
        product: str | Product | None = None,
        organization: str | Organization | None = None,
        customer: str | Organization | None = None,
    ) -> dict[str, Any]:
        """Do the same, and return the whole answer: with the refresh token."""
        who = person if isinstance(person, Person) else self.person(person)
        body = {"email": who.email, "password": who.password}
        if product is not None:
            sold = self._product(product)
            body |= {"org_slug": sold.organization.slug, "service_slug": sold.slug}
        elif organization is not None:
            body["org_slug"] = self._required(organization).slug
        if customer is not None:
            body["customer"] = self._required(customer).slug
        return self._requests.ask("POST", "/api/auth/login", body)

    def client_token(self, product: str | Product, **parameters: str) -> str:
        """Return an access token of a product itself, by its client id and secret."""
        sold = self._product(product)
        answer = httpx.post(
            f"{self.base_url}/auth/token",
            data={"grant_type": "client_credentials", **parameters},
            auth=(sold.client_id, sold.client_secret),
        )
        if answer.is_error:
            raise KitFailed(f"no token for {sold.slug}: {answer.text}")
        return answer.json()["access_token"]

    def sign_in_by(self, provider: IdentityProvider, email: str, product: str | Product) -> str:
        """Sign a person in to a product by the provider of their organization.

        Return the address with the code at which the browser arrives; the product need not run.
        """
        sold = self._product(product)
        provider.sign_in_as(email)
        query = {
            "client_id": sold.client_id,
            "redirect_uri": sold.redirect_uri,
            "scope": "openid email",
            "state": "tests",
        }
        query |= {"response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        with httpx.Client(timeout=60.0) as browser:
            page = browser.get(f"{self.base_url}/auth/authorize", params=query)
            return arrived(browser, page, sold.redirect_uri, email, provider.base_url)

    def cookie(self, person: str | Person) -> dict[str, Any]:
        """Sign a person in on the pages, and return the cookie for `context.add_cookies` of Playwright."""
        who = person if isinstance(person, Person) else self.person(person)
        with self.browser() as browser:
            sign_in(browser, browser.get(f"{self.base_url}/app/sign-in"), who)
            value = browser.cookies.get(COOKIE)
        if value is None:
            raise KitFailed(f"{who.email} could not sign in on the pages; they have: {', '.join(browser.cookies)}")
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

    def visit(self, browser: httpx.Client, url: str, person: str | Person) -> httpx.Response:
        """Open a page of the product, sign a person in where Gatehouse asks, and return the page that follows."""
        who = person if isinstance(person, Person) else self.person(person)
        return sign_in(browser, browser.get(url), who)

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

    def ask(
        self,
        person: str | Person,
        method: str,
        path: str,
        body: Any = None,
        *,
        organization: str | Organization | None = None,
    ) -> Any:
        """Send a request as a person, who signs in for the organization of its path, and return its JSON."""
        if organization is None and path.startswith("/api/organizations/"):
            organization = path.split("/")[3]
        return self._requests.ask(method, path, body, token=self.token(person, organization=organization))

    def send(self, method: str, path: str, body: Any = None, *, token: str = "", key: str = "") -> httpx.Response:
        """Send a request with an access token or an API key, and return the answer, whatever it is."""
        return self._requests.send(method, path, body, token=token, key=key)

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

    def directory(self, organization: str | Organization, kind: type[Directory] = Directory) -> Directory:
        """Return the directory of an organization, which provisions its people and groups by SCIM.

        The first call says how it writes: as Okta's, or as that of Microsoft Entra (`EntraDirectory`).
        """
        of = self._required(organization)
        if of.slug not in self._directories:
            path = f"/api/organizations/{of.slug}/scim-tokens"
            made = self.ask(of.owner, "POST", path, {"name": "Tests", "groups": "directory"})
            self._directories[of.slug] = kind(self._requests, made["token"])
        return self._directories[of.slug]

    def okta(self, organization: str | Organization, domain: str, *, protocol: Protocol = "oidc") -> OktaProvider:
        """Return an identity provider like Okta, which an organization has connected for its mail domain."""
        return self._connected(OktaProvider(), organization, domain, protocol)

    def entra(self, organization: str | Organization, domain: str, *, protocol: Protocol = "oidc") -> EntraProvider:
        """Return an identity provider like Microsoft Entra, likewise."""
        return self._connected(EntraProvider(), organization, domain, protocol)

    def prove_domain(self, organization: str | Organization, domain: str, *, connection_id: str | None = None) -> str:
        """Prove a mail domain of an organization, whose addresses lead to a connection; return the id of the route."""
        of = self._required(organization)
        path = f"/api/organizations/{of.slug}/domain-routes"
        wanted = {"domain": domain, **({"provider_id": connection_id} if connection_id else {})}
        claim = self.ask(of.owner, "POST", path, wanted)
        self.instance.add_name(claim["txt_name"], claim["txt_value"])
        self.ask(of.owner, "POST", f"{path}/{claim['id']}/verify", {})
        return claim["id"]

    def _connected(
        self, provider: Connected, organization: str | Organization, domain: str, protocol: Protocol
    ) -> Connected:
        of = self._required(organization)
        provider.start()
        self._opened.append(provider)
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
        self.prove_domain(of, domain, connection_id=made["id"])
        return provider

    def _register(self, email: str) -> Person:
        account = {"email": email, "password": PASSWORD}
        self._requests.ask("POST", "/api/auth/register", account)
        proof = urlsplit(self.mails.wait_for(email, containing=VERIFICATION).link(VERIFICATION)).query
        # As JSON; a browser gets a page with a button.
        self._requests.ask("GET", f"{VERIFICATION}?{proof}")
        token = self._requests.ask("POST", "/api/auth/login", account)["access_token"]
        user = self._requests.ask("GET", "/api/user", token=token)
        return Person(id=user["id"], email=email, password=PASSWORD)

    def _join(self, of: Organization, person: Person, role: str) -> None:
        path = f"/api/organizations/{of.slug}/invitations"
        invited = self.ask(of.owner, "POST", path, {"email": person.email, "role": role})
        link = self.mails.wait_for(person.email, containing=invited["token"]).link(INVITATION)
        proof = parse_qs(urlsplit(link).query)["proof"][0]
        answer = {"token": invited["token"], "proof": proof}
        self._requests.ask("POST", "/api/invitations/accept", answer, token=self.token(person))
        self._members[of.slug, person.email] = role

    def _platform_token(self) -> str:
        return self._requests.ask("POST", "/api/auth/login", self.instance.owner)["access_token"]

    def _organization(self, given: str | Organization | None) -> Organization | None:
        return self.organization(given) if isinstance(given, str) else given

    def _required(self, given: str | Organization) -> Organization:
        return self.organization(given) if isinstance(given, str) else given

    def _product(self, given: str | Product) -> Product:
        return self.product(given) if isinstance(given, str) else given
