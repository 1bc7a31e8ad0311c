"""What tests name first: organizations, people and products, and how they ask Gatehouse by its interface."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import httpx

from gatehouse_client.testing import code_flow
from gatehouse_client.testing.clock import Clock
from gatehouse_client.testing.directory import Directory
from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.mailbox import Mailbox
from gatehouse_client.testing.pages import Visitor
from gatehouse_client.testing.parties import MadeCustomer, Organization, Person, Product
from gatehouse_client.testing.providers import IdentityProvider
from gatehouse_client.testing.requests import KitFailed

# Of everyone in the tests: it protects nothing.
PASSWORD: Final = "gatehouse for tests"  # noqa: S105
VERIFICATION: Final = "/auth/verify-email"
ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INVITATION: Final = "/invitations/accept"


class NamedParties:
    """The organizations, people and products of a test: each is made when it is named the first time."""

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
        self._customers: set[tuple[str, str]] = set()

    def organization(self, slug: str, *, name: str | None = None, domain: str | None = None) -> Organization:
        """Return an active organization with its owner; `domain` is a mail domain that it has proved."""
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
        """Return a person with a proved address, by a short name or an address.

        The person is a member of `organization` with this role. `customer` is the same for one that uses the product of
        another organization. `groups` are groups of its directory.
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
        customers: Iterable[str | Organization] | Literal["listed", "any"] = (),
        **fields: Any,
    ) -> Product:
        """Return a service that people sign in to; `customers` are organizations that use it.

        `customers="listed"` is a service that its program makes customers for, `any` one for each that wants it.
        `fields` are the interface's: `service_type`, `roles`, `scopes`, `claims`, `individuals` and others.
        """
        if slug not in self._products:
            of = self._required(organization)
            body = {
                "slug": slug,
                "name": slug.title(),
                "service_type": "web",
                "redirect_uris": list(redirect_uris),
                **({"customers": customers} if isinstance(customers, str) else {}),
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
            for one in () if isinstance(customers, str) else customers:
                self.customer(self._products[slug], one)
        return self._products[slug]

    def customer(
        self,
        product: str | Product,
        organization: str | Organization,
        *,
        roles: Mapping[str, Sequence[str]] | None = None,
        provider: IdentityProvider | None = None,
    ) -> Organization:
        """Let an organization use a product, with roles of the product for its people and groups.

        `roles` has names of roles by who gets them: `everyone`, `role:admin`, or `group:Billing`. A group is one of
        the directory of the organization, which is pushed if it is not there; with a `provider`, one that the provider
        names at sign-ins, of which the first that a person is in counts.
        """
        sold, buyer = self._product(product), self._required(organization)
        products = f"/api/organizations/{buyer.slug}/products"
        if (sold.slug, buyer.slug) not in self._customers:
            service = self._opened_to_customers(sold)
            self.ask(sold.organization.owner, "POST", f"{service}/customers", {"organization": buyer.slug})
            self.ask(buyer.owner, "POST", products, {"client_id": sold.client_id})
            self._customers.add((sold.slug, buyer.slug))
        if roles is not None:
            assignments = [
                {"subject": self._subject(buyer, one, provider), "roles": list(given)} for one, given in roles.items()
            ]
            self.ask(buyer.owner, "PATCH", f"{products}/{sold.client_id}", {"assignments": assignments})
        return buyer

    def note(
        self,
        values: Mapping[str, Any] | None,
        *,
        organization: str | Organization | None = None,
        product: str | Product | None = None,
        person: str | Person | None = None,
        customer: str | Organization | MadeCustomer | None = None,
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
        if isinstance(customer, MadeCustomer):
            path = f"{service}/customers/{customer.id}"
        elif customer is not None:
            slug = self._required(customer).slug
            listed = self.ask(sold.organization.owner, "GET", f"{service}/customers?limit=100&q={slug}")["customers"]
            known = [one["id"] for one in listed if one["organization"]["slug"] == slug]
            if not known:
                raise KitFailed(f"{slug} is no customer of {sold.slug}: make it one by customer()")
            path = f"{service}/customers/{known[0]}"
        elif person is not None:
            who = self._person(person)
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
        customer: str | Organization | MadeCustomer | None = None,
        provider: IdentityProvider | None = None,
        expired: bool = False,
    ) -> str:
        """Sign a person in, by a `provider` if it is named, and return an access token; `expired` is one of yesterday.

        It is for a `product`, and for a `customer` there. A provider knows the person by their address. For an expired
        token the clock goes back, and is where it was when this returns.
        """
        with self.clock.a_day_ago() if expired else nullcontext():
            answer = self.sign_in(
                person, product=product, organization=organization, customer=customer, provider=provider
            )
        return answer["access_token"]

    def sign_in(
        self,
        person: str | Person,
        *,
        product: str | Product | None = None,
        organization: str | Organization | None = None,
        customer: str | Organization | MadeCustomer | None = None,
        provider: IdentityProvider | None = None,
    ) -> dict[str, Any]:
        """Sign a person in as `token` does, and return the whole answer, with the other tokens."""
        if isinstance(customer, MadeCustomer):
            product = product or customer.product
        if provider is not None:
            if product is None:
                raise KitFailed("a provider signs people in to a product: name it by product=")
            sold, visitor = self._product(product), self._visitor(person, provider)
            address = code_flow.arrival(self.base_url, sold, visitor, customer=self._customer_name(customer))
            return code_flow.exchanged(self.base_url, sold, address)
        who = self._person(person)
        body = {"email": who.email, "password": who.password}
        if product is not None:
            sold = self._product(product)
            body |= {"org_slug": sold.organization.slug, "service_slug": sold.slug}
        elif organization is not None:
            body["org_slug"] = self._required(organization).slug
        if customer is not None:
            body["customer"] = self._customer_name(customer) or ""
        return self._requests.ask("POST", "/api/auth/login", body)

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

    def directory(self, organization: str | Organization, kind: type[Directory] = Directory) -> Directory:
        """Return the directory of an organization, which provisions people and groups by SCIM, as Okta's or Entra's.

        The first call says how it writes: as Okta's, or as Microsoft Entra's (`EntraDirectory`).
        """
        of = self._required(organization)
        if of.slug not in self._directories:
            path = f"/api/organizations/{of.slug}/scim-tokens"
            made = self.ask(of.owner, "POST", path, {"name": "Tests", "groups": "directory"})
            self._directories[of.slug] = kind(self._requests, made["token"])
        return self._directories[of.slug]

    def prove_domain(self, organization: str | Organization, domain: str, *, connection_id: str | None = None) -> str:
        """Prove a mail domain of an organization, whose addresses lead to a connection; return the id of the route."""
        of = self._required(organization)
        path = f"/api/organizations/{of.slug}/domain-routes"
        wanted = {"domain": domain, **({"provider_id": connection_id} if connection_id else {})}
        claim = self.ask(of.owner, "POST", path, wanted)
        self.instance.add_name(claim["txt_name"], claim["txt_value"])
        self.ask(of.owner, "POST", f"{path}/{claim['id']}/verify", {})
        return claim["id"]

    def _subject(self, of: Organization, named: str, provider: IdentityProvider | None) -> str:
        """Return the subject of an assignment, as the interface names it; make the group if it does not exist."""
        kind, _, group = named.partition(":")
        if kind != "group" or ID.fullmatch(group):
            return named
        if provider is None:
            return f"group:{self.directory(of).add_group(group)}"
        return f"role:{self._role_of(of, group, provider)}"

    def _role_of(self, of: Organization, group: str, provider: IdentityProvider) -> str:
        """Return a role of an organization that a group of its provider gives, and that allows nothing there."""
        path = f"/api/organizations/{of.slug}"
        slug = "group-" + re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")
        known = self.ask(of.owner, "GET", f"{path}/roles")["roles"]
        if slug not in {one["slug"] for one in known}:
            self.ask(of.owner, "POST", f"{path}/roles", {"slug": slug, "name": group, "permissions": []})
            names = ("source", "group", "role")
            rules = [
                {name: one[name] for name in names} for one in self.ask(of.owner, "GET", f"{path}/group-rules")["rules"]
            ]
            rules.append({"source": provider.connection_id, "group": provider.group_id(group), "role": slug})
            self.ask(of.owner, "PUT", f"{path}/group-rules", {"rules": rules})
        return slug

    def _visitor(self, person: str | Person, provider: IdentityProvider | None = None) -> Visitor:
        """Return who answers the pages; a provider then has a session of this person."""
        if provider is None:
            who = self._person(person)
            return Visitor(email=who.email, password=who.password)
        email = person.email if isinstance(person, Person) else person
        provider.sign_in_as(email)
        known = self._people.get(email)
        mails = {mail.id for mail in self.mails.all(email)}
        return Visitor(
            email=email,
            password=known.password if known else "",
            provider_url=provider.base_url,
            read_code=lambda: self.mails.wait_for_code(email, besides=mails),
        )

    def _person(self, given: str | Person) -> Person:
        return self.person(given) if isinstance(given, str) else given

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

    def _opened_to_customers(self, product: Product) -> str:
        """Let a product have customers, and return the path of its service."""
        of = product.organization
        service = f"/api/organizations/{of.slug}/services/{product.slug}"
        if self.ask(of.owner, "GET", service)["customers"] == "none":
            self.ask(of.owner, "PATCH", service, {"customers": "listed"})
        return service

    def _customer_name(self, given: str | Organization | MadeCustomer | None) -> str | None:
        """Return how a sign-in names a customer: by its id, or the slug of its organization."""
        if isinstance(given, MadeCustomer):
            return given.id
        of = self._organization(given)
        return of.slug if of else None

    def _organization(self, given: str | Organization | None) -> Organization | None:
        return self.organization(given) if isinstance(given, str) else given

    def _required(self, given: str | Organization) -> Organization:
        return self.organization(given) if isinstance(given, str) else given

    def _product(self, given: str | Product) -> Product:
        return self.product(given) if isinstance(given, str) else given
