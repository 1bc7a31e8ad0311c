"""Customers that the program of a vendor makes: it sets them up with its key, and a person may claim one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from gatehouse_client.testing.directory import Directory
from gatehouse_client.testing.instance import Instance
from gatehouse_client.testing.named_parties import NamedParties
from gatehouse_client.testing.pages import submitted, walk
from gatehouse_client.testing.parties import MadeCustomer, Organization, Person, Product
from gatehouse_client.testing.providers import IdentityProvider
from gatehouse_client.testing.requests import KitFailed

# What the key of a vendor's program may do.
PERMISSIONS: Final = ("write:customers", "setup:customers")
# The address of the mailed link, and the page behind its button.
CLAIM: Final = "/app/claims"
OWN_CLAIM: Final = "/app/claims/own"


class MadeCustomers(NamedParties):
    """The customers that programs of vendors have made in a test, beside its organizations, people and products."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._made: dict[tuple[str, str], MadeCustomer] = {}
        self._keys: dict[str, str] = {}

    def api_key(self, product: str | Product, *permissions: str) -> str:
        """Return an API key of a product, with which its backend calls the interface of services."""
        sold = self._product(product)
        path = f"/api/organizations/{sold.organization.slug}/services/{sold.slug}/api-keys"
        body = {"name": "Tests", "permissions": list(permissions)}
        return self.ask(sold.organization.owner, "POST", path, body)["key"]

    def made_customer(
        self,
        product: str | Product,
        name: str,
        *,
        external_id: str | None = None,
        owner_email: str | None = None,
        roles: Mapping[str, Sequence[str]] | None = None,
        provider: IdentityProvider | None = None,
    ) -> MadeCustomer:
        """Return a customer that the vendor's program has made, by its name; it is made if there is none.

        No person owns it until one claims it. `roles` has names of roles by groups, such as `group:Billing`: of its
        directory, or of a `provider`.
        """
        sold = self._product(product)
        if (sold.slug, name) not in self._made:
            body = {"name": name, "external_id": external_id, "owner_email": owner_email}
            self._made[sold.slug, name] = self._find_or_make(sold, body)
        customer = self._made[sold.slug, name]
        for named, given in (roles or {}).items():
            self._give_roles(customer, named, given, provider)
        return customer

    def claim(
        self,
        customer: MadeCustomer,
        person: str | Person,
        *,
        slug: str | None = None,
        vendor_setup: Sequence[str] = (),
    ) -> Organization:
        """Let a person claim a customer by the mailed link, and return the organization that they own now.

        `vendor_setup` are the parts that its vendor may go on setting up: `upstream`, `mail_domain`, `scim`, `groups`.
        """
        owner = self._person(person)
        link = self._link_to_claim(customer, owner.email)
        slug = slug or re.sub(r"[^a-z0-9]+", "-", customer.name.lower()).strip("-")
        with httpx.Client(follow_redirects=True, timeout=60.0) as browser:
            page = walk(browser, browser.get(link.replace(CLAIM, OWN_CLAIM)), self._visitor(owner))
            page = submitted(browser, page, OWN_CLAIM, name=customer.name, slug=slug, vendor_setup=list(vendor_setup))
        if page.is_error:
            raise KitFailed(f"{owner.email} could not claim {customer.name}: {page.status_code} at {page.url}")
        self._know(slug, owner)
        return self._organizations[slug]

    def directory(
        self, organization: str | Organization | MadeCustomer, kind: type[Directory] = Directory
    ) -> Directory:
        """Return the directory of an organization, which provisions people and groups by SCIM, as Okta's or Entra's.

        The first call says how it writes: as Okta's, or as Microsoft Entra's (`EntraDirectory`).
        """
        if not isinstance(organization, MadeCustomer):
            return super().directory(organization, kind)
        if organization.id not in self._directories:
            token = self._set_up(organization, "POST", "/scim-tokens", {"name": "Tests"})["token"]
            self._directories[organization.id] = kind(self._requests, token)
        return self._directories[organization.id]

    def prove_domain(
        self, organization: str | Organization | MadeCustomer, domain: str, *, connection_id: str | None = None
    ) -> str:
        """Prove a mail domain of an organization, whose addresses lead to a connection; return the id of the route."""
        if not isinstance(organization, MadeCustomer):
            return super().prove_domain(organization, domain, connection_id=connection_id)
        wanted = {"domain": domain, "provider_id": connection_id}
        claim = self._set_up(organization, "POST", "/mail-domains", wanted)
        self.instance.add_name(claim["txt_name"], claim["txt_value"])
        self._set_up(organization, "POST", f"/mail-domains/{claim['id']}/verify")
        return claim["id"]

    def _link_to_claim(self, customer: MadeCustomer, email: str) -> str:
        """Name the owner of a customer, and return the mailed link, which replaces earlier ones."""
        known = {mail.id for mail in self.mails.all(email)}
        self._set_up(customer, "POST", "/owner", {"email": email})
        while True:
            mail = self.mails.wait_for(email, containing=CLAIM, besides=known)
            link = mail.link(CLAIM)
            # The mail of a link of before may come only now.
            if not httpx.get(link, timeout=60.0).is_error:
                return link
            known.add(mail.id)

    def _find_or_make(self, product: Product, body: Mapping[str, Any]) -> MadeCustomer:
        """Return the customer of this name, which the program of the product may have made already."""
        self._opened_to_customers(product)
        key = self._keys.get(product.slug) or self.api_key(product, *PERMISSIONS)
        self._keys[product.slug] = key
        path, name = "/api/service/customers", body["name"]
        listed = self._requests.ask("GET", f"{path}?{urlencode({'q': name, 'limit': 100})}", key=key)["customers"]
        known = [one for one in listed if one["organization"]["name"] == name]
        made = known[0] if known else self._requests.ask("POST", path, body, key=key)
        return MadeCustomer(id=made["id"], name=name, product=product, key=key)

    def _publish_records(self, customer: MadeCustomer) -> None:
        """Let the name servers have the records that prove the mail domains of a customer."""
        for one in self._set_up(customer, "GET", "/mail-domains")["mail_domains"]:
            self.instance.add_name(one["txt_name"], one["txt_value"])

    def _set_up(self, customer: MadeCustomer, method: str, path: str, body: Any = None) -> Any:
        """Send a request about a customer as the program that has made it."""
        return self._requests.ask(method, f"/api/service/customers/{customer.id}{path}", body, key=customer.key)

    def _give_roles(
        self, customer: MadeCustomer, named: str, roles: Sequence[str], provider: IdentityProvider | None
    ) -> None:
        kind, _, name = named.partition(":")
        if kind != "group":
            raise KitFailed(f"a customer that was made gives roles by groups, such as group:Billing, not by {named}")
        source, group = (
            ("scim", self.directory(customer).add_group(name))
            if provider is None
            else (provider.connection_id, provider.group_id(name))
        )
        known = self._set_up(customer, "GET", "/group-rules")["group_rules"]
        rules = [one["id"] for one in known if (one["source"], one["group"]) == (source, group)]
        given = {"service_roles": list(roles)}
        if rules:
            self._set_up(customer, "PATCH", f"/group-rules/{rules[0]}", given)
        else:
            self._set_up(customer, "POST", "/group-rules", {"source": source, "group": group, **given})

    def _know(self, slug: str, owner: Person) -> None:
        """Approve an organization that a person has claimed, and keep it among the organizations of the test."""
        listed = self._requests.ask("GET", "/api/organizations", token=self.token(owner))
        [of] = [one["organization"] for one in listed if one["organization"]["slug"] == slug]
        path = f"/api/platform/organizations/{of['id']}/approve"
        self._requests.ask("POST", path, {}, token=self._platform_token())
        self._organizations[slug] = Organization(id=of["id"], slug=slug, name=of["name"], owner=owner)
        self._members[slug, owner.email] = "owner"
