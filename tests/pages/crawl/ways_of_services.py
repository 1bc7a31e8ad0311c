"""Pages that services and other systems lead to: requests for users, devices, SAML, and the sandbox."""

from __future__ import annotations

from urllib.parse import quote

from tests.pages.crawl.ground import Ground
from tests.pages.crawl.values import HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL
from tests.world.authorization import address_of
from tests.world.builder import Service
from tests.world.saml import SamlWorld


async def sandbox(ground: Ground) -> None:
    """The sandbox of the payment provider shows a checkout and a portal."""
    rows = ground.full.rows
    rows.add("sandbox_customers", id="customer", name=NAME, idempotency_key="of the crawl")
    sold = {"price_id": "price", "price_cents": 123_456_789, "currency": "eur", "return_url": URL}
    for kind in ("checkout", "portal"):
        rows.add(
            "sandbox_sessions",
            id=f"session-{kind}",
            kind=kind,
            customer_id="customer",
            service_name=NAME,
            plan_name=RIGHT_TO_LEFT,
            expires_at=rows.ago(hours=-1),
            **sold,
        )
    for status in ("active", "past_due", "canceled", "trialing"):
        rows.add(
            "sandbox_subscriptions",
            id=f"subscription-{status}",
            customer_id="customer",
            description=NAME,
            status=status,
            price_id="price",
            price_cents=1900,
            currency="eur",
        )
    await ground.look("/sandbox/portal/session-portal", "/sandbox/checkout/session-checkout")


async def authorizations(ground: Ground) -> None:
    """Services ask for users: who is asked first, refused, led back, and signed out."""
    party, user_id = ground.party("asking"), ground.user("buyer")
    visitor = ground.visitor()
    asked = await visitor.sign_in(
        ground.email("buyer"), path=address_of(party, prompt="consent", scope="openid profile")
    )
    refused = await visitor.submit(asked, "/auth/authorize/allow", name=NAME * 100)
    await visitor.submit(refused, "/auth/authorize/allow", name="")
    await visitor.send("GET", address_of(party, response_mode="form_post"))
    asked = await visitor.open(address_of(party, prompt="consent"))
    await visitor.submit(asked, "/auth/authorize/deny")
    await visitor.open(address_of(party, redirect_uri="https://elsewhere.example/"))
    await visitor.open(f"/auth/logout?client_id={party.client_id}")
    await visitor.open(
        f"/auth/logout?client_id={party.client_id}&post_logout_redirect_uri=https://x.example/{quote(UNBROKEN)}"
    )
    await visitor.open(f"/auth/start/{party.client_id}")
    customers = ground.party("trading")
    service = Service(customers.service_id, customers.client_id)
    ground.world.serve_customers(service, "reader", individuals="none")
    await visitor.open(address_of(customers, prompt="consent"))
    for number in range(2):
        organization_id = ground.world.organization(f"buyers{number}", name=NAME)
        ground.world.member(organization_id, user_id, is_confirmed=number == 0)
        ground.world.customer(service, organization_id)
    await visitor.open(address_of(customers, prompt="consent"))
    await visitor.open("/auth/logout")
    await visitor.submit(await visitor.open("/app/sign-out?return_to=/app/account"))


async def devices(ground: Ground) -> None:
    """Devices ask to sign in: to a public service, to one with customers, and to one that does not admit the user."""
    ground.user("typist")
    visitor = ground.visitor()
    await visitor.sign_in(ground.email("typist"))
    app, traders = ground.party("app", "mobile"), ground.party("traders", "mobile")
    service = Service(traders.service_id, traders.client_id)
    ground.world.serve_customers(service, "reader", individuals="none")
    await visitor.submit(await visitor.open("/auth/device"), "/auth/device", user_code="WRONG")
    for number, party in enumerate((app, app, traders, traders)):
        if number == 3:
            for one in range(2):
                organization_id = ground.world.organization(f"device-buyers{one}", name=NAME)
                ground.world.member(organization_id, ground.world.user_id(ground.email("typist")))
                ground.world.customer(service, organization_id)
        device = (await party.post("/auth/device/code", {"scope": "openid"})).json
        page = await visitor.open(device["verification_uri_complete"].removeprefix("http://localhost:8000"))
        if party is app:
            await visitor.submit(page, ("/auth/device/approve", "/auth/device/deny")[number])


async def saml_sign_ins(ground: Ground) -> None:
    """Service providers ask for users: who has to agree, to choose a customer, and is refused; and a logout."""
    user_id = ground.user("asserted")
    organization_id = ground.world.organization("asserting", name=NAME)
    made = await SamlWorld(ground.world).service(organization_id, "asserting")
    ground.rows.set("services", made.service_id, name=RIGHT_TO_LEFT)
    visitor = ground.visitor()
    await visitor.sign_in(ground.email("asserted"))
    await visitor.open(made.sso())
    ground.world.member(organization_id, user_id)
    agreed = await visitor.open(made.sso())
    if "/authenticate" in agreed.text:
        await visitor.submit(agreed)
    ground.world.serve_customers(Service(made.service_id, made.service_id), "reader")
    for number in range(2):
        customer_id = ground.world.organization(f"asserted{number}", name=NAME)
        ground.world.member(customer_id, user_id)
        ground.world.customer(Service(made.service_id, made.service_id), customer_id)
    await visitor.open(made.sso())
    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    await visitor.send("GET", answer.headers["Location"])


async def domains(ground: Ground) -> None:
    """The custom domain of an organization has pages of its own."""
    organization_id = ground.world.organization("domain", name=NAME)
    ground.world.member(organization_id, ground.user("domain"))
    host = f"sign-in.{HOST}"
    now = ground.rows.clock()
    ground.rows.of(organization_id=organization_id).add(
        "custom_domains", domain=host, value="value", status="verified", verified_at=now, proved_at=now
    )
    visitor = ground.visitor()
    visitor.headers["Host"] = f"{host}:8000"
    await visitor.sign_in(ground.email("domain"))
    await visitor.submit(await visitor.open("/app/passkey"), "/app/passkey", credential="{}")
