"""Where a server that is killed works: its customers, what it talks to, and the clients that ask it.

Acme has the directory, the sales, the webhook and a service that is signed in to by SAML; the members of Globex open
checkouts; the employees of Initech sign in by its identity provider.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import trio

from tests.entrypoints.killed_server import BASE_URL, HOST, KilledServer
from tests.entrypoints.saml_work import Browser, Employees
from tests.entrypoints.work import (
    CUSTOMER,
    SIGNING_SECRET,
    Buyer,
    Client,
    DirectoryClient,
    Offer,
    ProviderEvents,
    Registrant,
    now,
)
from tests.identity_provider import IdentityProvider
from tests.mail_server import PostOffice
from tests.payment_provider import KEY, PaymentProvider, running_provider
from tests.receiver import Receiver, open_receiver
from tests.service_provider import ServiceProvider
from tests.world.builder import PASSWORD, Builder
from tests.world.directory import TOKEN as SCIM_TOKEN
from tests.world.directory import insert_scim_token
from tests.world.http_visitor import HttpVisitor

CLIENTS_OF_EACH_KIND = 2
SENDER = "id@gatehouse.example"
SAML = "/saml/acme/shop"
# The events that the webhook gets.
TOLD = ["user.joined", "user.deactivated", "user.removed", "subscription.created", "subscription.canceled"]


@dataclass(frozen=True)
class Outside:
    """What the server talks to: a payment provider, a mail server and the receiver of a webhook."""

    provider: PaymentProvider
    post_office: PostOffice
    receiver: Receiver

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a server that uses them."""
        return {
            "DEV": "on",
            "BASE_URL": BASE_URL,
            "SMTP_URL": f"smtp://127.0.0.1:{self.post_office.port}?from={SENDER}",
            "BILLING_URL": self.provider.url,
            "BILLING_SECRET_KEY": KEY,
            "BILLING_WEBHOOK_SECRET": SIGNING_SECRET.reveal(),
            "OUTBOUND_ALLOW": "127.0.0.0/8",
        }


@asynccontextmanager
async def outside() -> AsyncGenerator[Outside]:
    """Open what the server talks to."""
    async with AsyncExitStack() as stack:
        provider = stack.enter_context(running_provider())
        post_office = stack.enter_context(PostOffice().open())
        yield Outside(provider, post_office, await stack.enter_async_context(open_receiver()))


def insert_offer(builder: Builder, slug: str) -> Offer:
    """Insert an organization with an owner and a service for sale."""
    organization_id = builder.organization(slug)
    builder.connection.execute("UPDATE organizations SET max_users = 100000 WHERE id = %s", (organization_id,))
    builder.member(organization_id, builder.user(f"owner@{slug}.example"), "owner")
    service_id = builder.service(organization_id).id
    price_id = f"price_{slug}"
    plan_id = builder.plan(organization_id, service_id, billing_price_id=price_id)
    return Offer(organization_id=organization_id, service_id=service_id, plan_id=plan_id, price_id=price_id)


def bind_customer(builder: Builder, organization_id: UUID) -> None:
    """Insert the customer of an organization, as a checkout leaves it."""
    builder.connection.execute(
        """
        INSERT INTO billing_customers (id, mode, organization_id, created_at, updated_at)
        VALUES (%s, 'test', %s, now(), now())
        """,
        (CUSTOMER, organization_id),
    )


async def sign_in(server: KilledServer, email: str) -> str:
    """Sign in by password; return an access token."""
    body = {"email": email, "password": PASSWORD}
    return (await server.request("POST", "/api/auth/login", json=body)).expect(200).json["access_token"]


async def connect(server: KilledServer, builder: Builder, idp: IdentityProvider) -> str:
    """Let the people of a domain sign in by an identity provider; return the id of the connection."""
    builder.member(builder.organization("initech"), builder.user("owner@initech.example"), "owner")
    token, path = await sign_in(server, "owner@initech.example"), "/api/organizations/initech"
    wanted = {"type": "saml", "name": "Initech", "metadata_xml": idp.metadata()}
    made = (await server.request("POST", f"{path}/upstream-providers", token=token, json=wanted)).expect(200)
    route = {"domain": "initech.example", "provider_id": made.json["id"]}
    (await server.request("POST", f"{path}/domain-routes", token=token, json=route)).expect(200)
    # As if its name servers had proved it.
    builder.connection.execute("UPDATE domain_routes SET status = 'verified', verified_at = now(), proved_at = now()")
    return made.json["id"]


async def set_up(server: KilledServer, receiver: Receiver, sp: ServiceProvider) -> None:
    """Set SAML and a webhook as the owner does."""
    token = await sign_in(server, "owner@acme.example")
    acme, service = "/api/organizations/acme", "/api/organizations/acme/services/shop"
    saml = {"enabled": True, "entity_id": sp.entity_id, "acs_url": sp.acs_url}
    (await server.request("POST", f"{service}/saml", token=token, json=saml)).expect(200)
    (await server.request("POST", f"{service}/saml/certificate", token=token)).expect(200)
    webhook = {"name": "hook", "url": receiver.url, "events": TOLD}
    (await server.request("POST", f"{acme}/webhooks", token=token, json=webhook)).expect(200)


def cookies_of(server: KilledServer, email: str) -> str:
    """Sign in on the pages; return the cookies."""
    with HttpVisitor(server.url, host=HOST) as visitor:
        page = visitor.sign_in("/app", email, PASSWORD)
        assert page.status_code == 200, page.text
        return visitor.cookies


@dataclass(frozen=True)
class Working:
    """The clients by their kinds, and the id of Acme."""

    acme_id: UUID
    registrants: Sequence[Registrant]
    directories: Sequence[DirectoryClient]
    provider_events: Sequence[ProviderEvents]
    buyers: Sequence[Buyer]
    browsers: Sequence[Browser]
    employees: Sequence[Employees]

    @property
    def all(self) -> list[Client]:
        """All clients."""
        return [
            *self.registrants,
            *self.directories,
            *self.provider_events,
            *self.buyers,
            *self.browsers,
            *self.employees,
        ]


async def begin_work(server: KilledServer, builder: Builder, receiver: Receiver) -> Working:
    """Insert the customers, set up what they use, and return the clients, those signed in that have to be."""
    acme, globex = insert_offer(builder, "acme"), insert_offer(builder, "globex")
    bind_customer(builder, acme.organization_id)
    insert_scim_token(builder, acme.organization_id, SCIM_TOKEN)
    sp = ServiceProvider(now=now, idp=f"{BASE_URL}{SAML}")
    await set_up(server, receiver, sp)
    numbers = range(CLIENTS_OF_EACH_KIND)
    idp = IdentityProvider(now=now)
    connection_id = await connect(server, builder, idp)
    buyers: list[Buyer] = []
    browsers: list[Browser] = []
    for number in numbers:
        buyer, user = f"buyer-{number}@globex.example", f"user-{number}@acme.example"
        builder.member(globex.organization_id, builder.user(buyer))
        builder.member(acme.organization_id, builder.user(user))
        token = await sign_in(server, buyer)
        path = "/api/organizations/globex/services/shop/checkout"
        buyers.append(Buyer(server, f"checkout-{number}", token=token, path=path, plan_id=globex.plan_id))
        cookies = await trio.to_thread.run_sync(cookies_of, server, user)
        browsers.append(Browser(server, f"browser-{number}", cookies=cookies, sp=sp, path=SAML))
    return Working(
        acme_id=acme.organization_id,
        registrants=[Registrant(server, f"person-{number}") for number in numbers],
        directories=[DirectoryClient(server, f"employee-{number}") for number in numbers],
        provider_events=[ProviderEvents(server, f"sale-{n}", builder=builder, offer=acme) for n in numbers],
        buyers=buyers,
        browsers=browsers,
        employees=[Employees(server, f"employed-{n}", idp=idp, connection_id=connection_id) for n in numbers],
    )
