"""Pages that no link leads to: the steps of sign-ins, what mailed links open, and what other systems begin."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from pyotp.totp import TOTP

from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import hash_token
from tests.pages.crawl.hostile import HostileWorld
from tests.pages.crawl.organizations import FULL, SERVICE, Organization
from tests.pages.crawl.people import insert_session, open_in_browser
from tests.pages.crawl.recording import Recorder
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.spider import Spider
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL
from tests.world import second_factors
from tests.world.authorization import address_of
from tests.world.builder import Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.saml import SamlWorld
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

NEW_PASSWORD: Final = "a long password of their own"
WRONG: Final = "000000"


@dataclass(frozen=True)
class Ground:
    """What the ways begin with."""

    hostile: HostileWorld
    recorder: Recorder
    # What is pressed when everything else was seen.
    pressed_last: list[Spider] = field(default_factory=list[Spider])

    @property
    def world(self) -> World:
        """The world."""
        return self.hostile.world

    @property
    def rows(self) -> Rows:
        """What inserts rows of nobody."""
        return self.hostile.rows

    @property
    def full(self) -> Organization:
        """The organization that has everything."""
        return self.hostile.full

    def visitor(self) -> Visitor:
        """Return a browser without a session."""
        return Visitor(self.world.client, address=next(self.world.addresses))

    def email(self, name: str) -> str:
        """Return the address of a person."""
        return f"{name}.{EMAIL}"

    def user(self, name: str) -> UUID:
        """Insert an account with a password."""
        user_id = self.world.user(self.email(name))
        self.rows.set("users", user_id, name=RIGHT_TO_LEFT)
        return user_id

    async def mailed(self, template: MailTemplate) -> str:
        """Return the token of the newest mail of a kind."""
        return [one.values["token"] for one in await self.world.mails() if one.template == template][-1]

    async def look(self, *starts: str, visitor: Visitor | None = None) -> None:
        """Open pages and what they lead to, and press their buttons."""
        spider = Spider(self.recorder.way, visitor or self.visitor(), self.recorder)
        await spider.crawl(*starts)
        await spider.press()

    def party(self, slug: str, service_type: str = "web") -> RelyingParty:
        """Insert an organization with a service as a client."""
        party = insert_relying_party(self.world, service_type, slug=slug)
        self.rows.set("organizations", party.organization_id, name=NAME)
        self.rows.set("services", party.service_id, name=RIGHT_TO_LEFT)
        return party


async def registrations(ground: Ground) -> None:
    """A person registers, has the mail sent again, and opens its link in another browser."""
    visitor = ground.visitor()
    fields = {"email": ground.email("new"), "password": NEW_PASSWORD, "name": NAME}
    await visitor.submit(await visitor.open("/app/register"), "/app/register", fields)
    again = await visitor.open("/app/register/send-again")
    await visitor.submit(again, "/app/register/send-again", email="nobody")
    await visitor.submit(again, "/app/register/send-again", email=ground.email("new"))
    token = await ground.mailed(MailTemplate.VERIFY_EMAIL)
    await ground.look(f"/auth/verify-email?token={token}")
    await ground.look(f"/auth/verify-email?token={token}", visitor=visitor)


async def passwords(ground: Ground) -> None:
    """A person has forgotten the password, and chooses another one."""
    ground.user("forgetful")
    visitor = ground.visitor()
    asked = await visitor.open("/app/forgot-password")
    await visitor.submit(asked, "/app/forgot-password", email=ground.email("forgetful"))
    await ground.look(f"/auth/reset-password?token={await ground.mailed(MailTemplate.RESET_PASSWORD)}")
    await ground.hostile.owner.visitor.open("/app/password-notice?return_to=/app/account")


async def changes_of_address(ground: Ground) -> None:
    """A person asks for another address; links in two mails confirm, drop, undo and lock."""
    for number, press in enumerate((MailTemplate.VERIFY_NEW_EMAIL, MailTemplate.EMAIL_CHANGE_REQUESTED)):
        ground.user(f"moving{number}")
        visitor = ground.visitor()
        await visitor.sign_in(ground.email(f"moving{number}"))
        await ground.world.mails()
        page = await visitor.open("/app/account/email")
        await visitor.submit(page, "/app/account/email", email=ground.email(f"moved{number}"))
        token = await ground.mailed(press)
        path = "/auth/verify-email" if press is MailTemplate.VERIFY_NEW_EMAIL else "/auth/undo-email-change"
        await ground.look(f"{path}?token={token}")
        if press is MailTemplate.VERIFY_NEW_EMAIL:
            await ground.look(f"/auth/undo-email-change?token={await ground.mailed(MailTemplate.EMAIL_CHANGED)}")


async def locks(ground: Ground) -> None:
    """A mail about a new sign-in has a link that locks the account."""
    user_id = ground.user("robbed")
    ground.rows.add(
        "one_time_tokens",
        token_hash=hash_token("lock"),
        purpose="lock_account",
        user_id=user_id,
        email=ground.email("robbed"),
        expires_at=ground.rows.ago(days=-1),
    )
    await ground.look("/auth/lock-account?token=lock")


async def mailed_links(ground: Ground) -> None:
    """A person signs in by a mailed link, in another browser and by its code, to an organization."""
    user_id = ground.user("mailed")
    organization_id = ground.world.organization("mailed", name=NAME)
    ground.world.member(organization_id, user_id)
    visitor = ground.visitor()
    page = await visitor.submit(await visitor.open("/app/sign-in"), "/app/sign-in", email=ground.email("mailed"))
    await visitor.submit(page, "/app/sign-in/password", password="wrong")
    asked = await visitor.submit(page, "/app/sign-in/link")
    await visitor.submit(asked, "/app/sign-in/code", code="wrong")
    token = await ground.mailed(MailTemplate.MAGIC_LINK)
    other = ground.visitor()
    opened = await other.open(f"/auth/magic-link?token={token}")
    await other.submit(opened, "/auth/magic-link")
    await ground.look(f"/auth/magic-link?token={token}")


async def second_factors_of_accounts(ground: Ground) -> None:
    """A person with an app signs in, gives wrong codes, and signs in again for an organization that requires it."""
    person = second_factors.Person(ground.world, ground.user("guarded"), ground.email("guarded"))
    await person.turn_mfa_on()
    visitor = ground.visitor()
    asked = await visitor.sign_in(person.email)
    await visitor.submit(asked, "/app/second-factor", code=person.wrong_code())
    await visitor.submit(asked, "/app/second-factor", code=person.code())
    ground.world.connection.execute(
        "UPDATE sessions SET authenticated_at = %s WHERE user_id = %s", (ground.rows.ago(minutes=11), person.id)
    )
    again = await visitor.open("/app/account/closing")
    await visitor.submit(again, "/app/sign-in-again", password="wrong", code=WRONG)
    lapsed = ground.visitor()
    asked = await lapsed.sign_in(person.email)
    ground.world.connection.execute("UPDATE mfa_challenges SET used_at = created_at")
    await lapsed.submit(asked, "/app/second-factor", code=person.code())


async def required_second_factors(ground: Ground) -> None:
    """Members set a factor up on the way to an organization that requires one: an app, or a passkey."""
    for number, methods in enumerate(("any", "phishing_resistant")):
        user_id = ground.user(f"bare{number}")
        ids = [ground.world.organization(f"vault{number}{one}", name=NAME, mfa_required=True) for one in "ab"]
        for organization_id in ids:
            ground.world.member(organization_id, user_id)
            ground.rows.set("organizations", organization_id, mfa_methods=methods)
        visitor = ground.visitor()
        chosen = await visitor.sign_in(ground.email(f"bare{number}"), path="/app/choose-organization")
        page = await visitor.submit(chosen, org_slug=f"vault{number}a")
        if methods == "any":
            shown = await visitor.submit(page, "/app/second-factor/set-up")
            await visitor.submit(shown, "/app/second-factor/confirm", code=WRONG)
            [secret] = re.findall(r"<code[^>]*>([A-Z2-7\s]+)</code>", shown.text)
            code = TOTP("".join(secret.split())).at(ground.world.clock())
            await visitor.submit(shown, "/app/second-factor/confirm", code=code)
        await visitor.open("/app/second-factor/passkey?return_to=/app/account")


async def required_connections(ground: Ground) -> None:
    """The organization of an address requires its own provider."""
    visitor = ground.visitor()
    await visitor.submit(await visitor.open("/app/sign-in"), "/app/sign-in", email=f"somebody@verified.{HOST}")
    await visitor.open(f"/app/register?email=somebody@verified.{HOST}")
    await visitor.submit(
        await visitor.open("/app/register"), "/app/register", email=f"ann@verified.{HOST}", password=NEW_PASSWORD
    )


async def invitations(ground: Ground) -> None:
    """People are invited: one without an account, one with it, and one who is added."""
    rows = ground.full.rows
    ground.user("invited")
    for name in ("stranger", "invited", "joining"):
        rows.add(
            "invitations",
            email=ground.email(name),
            role="member",
            status="pending",
            token_hash=hash_token(f"token-{name}"),
            proof_hash=hash_token(f"proof-{name}"),
            expires_at=rows.ago(days=-3),
            service_ids=[ground.full.service_id],
            message=NAME,
        )
        link = f"?token=token-{name}&proof=proof-{name}"
        if name != "joining":
            await ground.look(f"/invitations/accept{link}", f"/app/invitations/accept{link}")
    address = "/app/invitations/accept?token=token-joining&proof=proof-joining"
    await ground.hostile.owner.visitor.open(address)
    visitor = ground.visitor()
    page = await visitor.open(address)
    await visitor.submit(page, "/app/invitations/accept", by="new_password", password="short", name=NAME * 9)
    await visitor.submit(page, "/app/invitations/accept", by="new_password", password=NEW_PASSWORD, name=NAME)
    for number in range(2):
        membership_id = ground.rows.clock_id()
        user_id = ground.user(f"added{number}")
        ground.full.rows.add("memberships", id=membership_id, user_id=user_id, role="member", confirmed_at=None)
        ground.rows.add(
            "one_time_tokens",
            token_hash=hash_token(f"confirm{number}"),
            purpose="confirm_membership",
            user_id=user_id,
            email=ground.email(f"added{number}"),
            data={"org_slug": FULL, "membership_id": str(membership_id)},
            expires_at=ground.rows.ago(days=-9),
        )
        await ground.look(f"/app/invitations/confirmation?token=confirm{number}")


async def setups(ground: Ground) -> None:
    """A person without an account opens a setup link for every part."""
    ground.full.rows.add(
        "setup_links",
        parts=["saml", "scim", "upstream", "domain", "siem", "groups"],
        service_id=ground.full.service_id,
        secret_hash=hash_token("setup"),
        expires_at=ground.rows.ago(days=-3),
        roles=["member"],
    )
    visitor = ground.visitor()
    await visitor.submit(await visitor.open("/app/setup/setup"))
    tokens, groups = "/app/setup/parts/scim", "/app/setup/parts/groups"
    await visitor.submit(await visitor.open(tokens), tokens, name=RIGHT_TO_LEFT)
    await visitor.submit(await visitor.open(groups), f"{groups}/check", source="scim", group=NAME, role="member")
    spider = Spider("the holder of a setup link", visitor, ground.recorder)
    await spider.crawl("/app/setup")
    ground.pressed_last.append(spider)


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


async def impersonations(ground: Ground) -> None:
    """A platform owner acts as the owner."""
    session_id = insert_session(
        ground.rows,
        ground.hostile.owner.id,
        impersonator_id=ground.hostile.root.id,
        impersonator_session_id=ground.hostile.root.session_id,
        expires_at=ground.rows.ago(minutes=-30),
    )
    visitor = Visitor(ground.world.client, cookies=dict(ground.hostile.root.visitor.cookies))
    visitor.cookies["gatehouse_impersonation"] = open_in_browser(ground.rows, session_id)
    for path in ("/app/account", "/app/account/closing", f"/app/organizations/{FULL}/settings"):
        await visitor.open(path)


async def authorizations(ground: Ground) -> None:
    """Services ask for users: who is asked first, refused, led back, and signed out."""
    party, user_id = ground.party("asking"), ground.user("buyer")
    visitor = ground.visitor()
    asked = await visitor.sign_in(ground.email("buyer"), path=address_of(party, prompt="consent"))
    await visitor.submit(asked, "/auth/authorize/allow")
    await visitor.send("GET", address_of(party, response_mode="form_post"))
    asked = await visitor.open(address_of(party, prompt="consent"))
    await visitor.submit(asked, "/auth/authorize/deny")
    await visitor.open(f"/auth/logout?client_id={party.client_id}")
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
    """Devices ask to be let in: by a public service, by one for customers, and by one that does not admit the user."""
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


async def mails(ground: Ground) -> None:
    """The mailbox of the development mode keeps mails."""
    database = ground.world.installation.database
    visitor = ground.visitor()
    fields = {"email": ground.email("kept"), "password": NEW_PASSWORD, "name": NAME}
    await visitor.submit(await visitor.open("/app/register"), "/app/register", fields)
    for one in await database.transact(mail.claim, 100):
        await database.transact(mail.record_kept, mail=one)
    await visitor.open("/dev/mailbox")


async def forms(ground: Ground) -> None:
    """The full organization's forms with what they take, where the answer is a page of its own."""
    owner, organization = ground.hostile.owner.visitor, f"/app/organizations/{FULL}"
    service = f"{organization}/services/{SERVICE}"
    rules = f"{organization}/people/groups/rules"
    await owner.submit(await owner.open(rules), f"{rules}/check", source="scim", group=NAME, role="admin")
    removal = f"{organization}/people/{ground.hostile.states['nameless']}/remove"
    await owner.submit(await owner.open(removal), removal, note=NAME)
    hooks = f"{organization}/webhooks/new"
    await owner.submit(await owner.open(hooks), hooks, name="More", url="https://hooks.invalid/", sets="security")
    keys, links = f"{organization}/keys", f"{organization}/setup-links"
    await owner.submit(await owner.open(keys), keys, name=UNBROKEN + "2", permissions="services.view", days="")
    await owner.submit(await owner.open(links), links, parts="domain", days="7")
    await owner.submit(await owner.open(f"{service}/tryout"), f"{service}/tryout")
    preview = f"{organization}/branding/preview"
    page = await owner.open(f"{organization}/branding")
    fields = next(form.fields for form in forms_of(page) if form.action == f"{organization}/branding")
    for one in ({**fields, "primary_color": "nothing"}, {}):
        await owner.post(preview, one)
    identities = "/app/account/identities"
    await owner.post(f"{identities}/link", {**forms_of(await owner.open(identities))[0].fields, "provider": "websuite"})
    portal = f"/app/account/subscriptions/{ground.full.service_id}/portal"
    await owner.submit(await owner.open("/app/account/subscriptions"), portal)


async def others(ground: Ground) -> None:
    """What stands alone: pages of few, parts that scripts load, and a page that does not exist."""
    owner, organization = ground.hostile.owner.visitor, f"/app/organizations/{FULL}"
    service = f"{organization}/services/{SERVICE}"
    for path in ("/app/nowhere", f"{service}/first-sign-in", f"{organization}/audit/feed"):
        await owner.open(path)
    await ground.hostile.root.visitor.open("/app/platform/mail?state=sent")
    await owner.open(f"{organization}/roles/unused/delete")
    await owner.open(f"{service}/plans/{ground.full.plan_id}/buy")


WAYS: Final[tuple[Callable[[Ground], Awaitable[None]], ...]] = (
    registrations,
    passwords,
    changes_of_address,
    locks,
    mailed_links,
    second_factors_of_accounts,
    required_second_factors,
    required_connections,
    invitations,
    setups,
    sandbox,
    impersonations,
    authorizations,
    devices,
    saml_sign_ins,
    domains,
    mails,
    forms,
    others,
)


async def take(ground: Ground) -> None:
    """Take every way."""
    for way in WAYS:
        ground.recorder.way = way.__name__
        await way(ground)
