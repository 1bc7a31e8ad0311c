"""Fills an installation with the month of the demo: each step happens at its time, and the clock only moves forward."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from core.accounts import passwords
from core.attempts import Attempt
from core.lazy_dataclasses import dataclass
from core.platform import owners
from entrypoints.demo import identity_provider, story
from entrypoints.demo.past import Past, Visitor
from entrypoints.demo.story import (
    ACME,
    BOLT,
    BUYERS,
    CORD,
    DIRECTORY,
    IN_TWO,
    IN_WAREHOUSE,
    INDIVIDUALS,
    MAIL_DOMAIN,
    ORGANIZATIONS,
    PASSWORD,
    SHOP,
    DemoOrganization,
    name_of,
    visitor_of,
)
from entrypoints.local_names import LocalNames
from entrypoints.shared.accounts.passwords import hashed

if TYPE_CHECKING:
    from entrypoints.progress import Progress

# How often a person signs in on a working day, and how often with a wrong password first.
SIGNS_IN: Final = 0.55
IS_WRONG: Final = 0.08
# How often a person of a customer goes to the shop, and not to their own organization alone.
IS_AT_THE_SHOP: Final = 0.5
STRANGER: Final = Visitor("203.0.113.66", "python-requests/2.32")
PERMISSIONS: Final = ("read:users", "write:users", "read:subscriptions", "write:subscriptions", "read:analytics")
# The same demo each time, apart from secrets.
SEED: Final = 2026
USER_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoService:
    """The data for the small application of the demo, and for the identity provider and the name server beside it.

    `customers` has the ids by which the shop knows its customers, by their names.
    """

    client_id: str
    client_secret: str
    webhook_secret: str
    customers: dict[str, str]
    provider_secret: str
    proofs: dict[str, str]


@dataclass
class DemoMonth:
    """The month that is being made."""

    past: Past
    began_at: datetime
    shop_url: str
    names: LocalNames
    report: Callable[[str], None]
    progress: Progress
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311 - decides no secret
    plans: dict[str, str] = field(default_factory=dict[str, str])
    key: str = ""
    provider_secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    customers: dict[str, str] = field(default_factory=dict[str, str])

    async def fill(self) -> DemoService:
        """Make the month, and return what the small application needs."""
        installation = self.past.installation
        new = passwords.accepted(PASSWORD, "password", installation.password_rules, [story.PLATFORM_OWNER])
        await installation.database.transact(owners.appoint, story.PLATFORM_OWNER, await hashed(installation, new))
        named = {"name": name_of(story.PLATFORM_OWNER)}
        token = await self._sign_in(story.PLATFORM_OWNER)
        await self.past.request(visitor_of(story.PLATFORM_OWNER), "PATCH", "/api/user", named, token=token)
        for organization in ORGANIZATIONS:
            self.report(f"Creating {organization.name} …")
            await self._found(organization)
        self.report("Opening the shop …")
        made = await self._open_shop()
        self.report("Finding customers …")
        await self._begin_customers(made["service"]["client_id"])
        for organization, url in ((BOLT, "https://hooks.bolt.example/in"), (CORD, "https://old.cord.example/hooks")):
            await self._webhook(organization, "Order system", url)
        for day in range(4, story.DAYS):
            self.progress.show(day, "days", total=story.DAYS)
            await self._day(day)
        await self.past.seal()
        return DemoService(
            client_id=made["service"]["client_id"],
            client_secret=made["client_secret"],
            webhook_secret=made["webhook_secret"],
            customers=self.customers,
            provider_secret=self.provider_secret,
            proofs=self.names.records,
        )

    def _at(self, day: int, hour: int, minute: int = 0) -> datetime:
        moment = self.began_at + timedelta(days=day)
        return moment.replace(hour=hour, minute=minute, second=self.chance.randrange(60))

    async def _later(self, minutes: int = 7) -> None:
        """Let some minutes pass, and the background work of them be done."""
        self.past.clock.move_to(self.past.clock.now + timedelta(minutes=minutes, seconds=self.chance.randrange(60)))
        await self.past.work()

    async def _register(self, email: str) -> str:
        """Make an account with a proved address, sign in, and return the access token."""
        visitor = visitor_of(email)
        account = {"email": email, "password": PASSWORD, "name": name_of(email)}
        await self.past.request(visitor, "POST", "/api/auth/register", account)
        await self.past.request(visitor, "GET", await self.past.mailed_link(email))
        await self._later(2)
        return await self._sign_in(email)

    async def _sign_in(self, email: str, **destination: str) -> str:
        answer = await self.past.request(
            visitor_of(email), "POST", "/api/auth/login", {"email": email, "password": PASSWORD, **destination}
        )
        return answer["access_token"]

    async def _owner(self, organization: DemoOrganization, method: str, path: str, body: Any = None) -> Any:
        """Send a request below an organization as its owner, who signs in for it."""
        owner = organization.addresses[0]
        token = await self._sign_in(owner)
        address = f"/api/organizations/{organization.slug}{path}"
        return await self.past.request(visitor_of(owner), method, address, body, token=token)

    async def _found(self, organization: DemoOrganization) -> None:
        day = ORGANIZATIONS.index(organization)
        self.past.clock.move_to(self._at(day, 8, 10))
        owner, *others = organization.addresses
        token = await self._register(owner)
        named = {"slug": organization.slug, "name": organization.name}
        made = await self.past.request(visitor_of(owner), "POST", "/api/organizations", named, token=token)
        await self._later(40)
        platform = await self._sign_in(story.PLATFORM_OWNER)
        path = f"/api/platform/organizations/{made['organization']['id']}/approve"
        await self.past.request(visitor_of(story.PLATFORM_OWNER), "POST", path, {}, token=platform)
        for number, email in enumerate(others):
            await self._later(25)
            await self._join(organization, email, "admin" if number == 0 else "member")
        await self._later()
        await self._invite(organization, organization.address_of(organization.invited), "member")

    async def _invite(self, organization: DemoOrganization, email: str, role: str) -> str:
        answer = await self._owner(organization, "POST", "/invitations", {"email": email, "role": role})
        return answer["token"]

    async def _join(self, organization: DemoOrganization, email: str, role: str, *, has_account: bool = False) -> None:
        invited = await self._invite(organization, email, role)
        visitor = visitor_of(email)
        proof = (await self.past.mailed_link(email)).rpartition("=")[2]
        await self._later(11)
        token = await (self._sign_in(email) if has_account else self._register(email))
        answer = {"token": invited, "proof": proof}
        await self.past.request(visitor, "POST", "/api/invitations/accept", answer, token=token)

    async def _open_shop(self) -> dict[str, Any]:
        """Make the service with its plans, key and webhook, and let people use it for themselves."""
        self.past.clock.move_to(self._at(3, 9, 20))
        await self._owner(ACME, "PATCH", "/branding", story.BRAND)
        made = await self._owner(
            ACME,
            "POST",
            "/services",
            {
                "slug": SHOP,
                "name": "Acme Shop",
                "service_type": "web",
                "redirect_uris": [f"{self.shop_url}/callback"],
                "post_logout_redirect_uris": [f"{self.shop_url}/"],
                "initiate_login_uri": f"{self.shop_url}/sign-in",
                "customers": "listed",
                "individuals": "others",
                "roles": story.ROLES,
            },
        )
        path = f"/services/{SHOP}"
        for name, cents in (("Workshop", 1900), ("Factory", 9900)):
            sold = {"name": name, "price_cents": cents, "features": [name.lower()]}
            self.plans[name] = (await self._owner(ACME, "POST", f"{path}/plans", sold))["id"]
        wanted = {"name": "Backend", "permissions": list(PERMISSIONS)}
        self.key = (await self._owner(ACME, "POST", f"{path}/api-keys", wanted))["key"]
        webhook = await self._webhook(ACME, "Shop", f"{self.shop_url}/webhooks")
        for email in INDIVIDUALS:
            await self._later(31)
            await self._register(email)
            await self._sign_in(email, org_slug=ACME.slug, service_slug=SHOP)
        return {**made, "webhook_secret": webhook["secret"]}

    async def _begin_customers(self, client_id: str) -> None:
        """Let two organizations become customers of the shop: one with an identity provider, and one with passwords."""
        for organization, external_id in BUYERS.items():
            self.customers[organization.name] = await self._offer(organization, external_id)
            await self._later(50)
            await self._owner(organization, "POST", "/products", {"client_id": client_id})
        assigned = [{"subject": "everyone", "roles": ["viewer"]}, {"subject": "role:admin", "roles": ["editor"]}]
        await self._owner(CORD, "PATCH", f"/products/{client_id}", {"assignments": assigned})
        await self._connect_provider()
        await self._later()
        assigned[1]["subject"] = f"group:{await self._provision()}"
        changed = {"assignments": assigned, "shares_directory": True}
        await self._owner(BOLT, "PATCH", f"/products/{client_id}", changed)
        await self._later()
        await self._join(BOLT, IN_TWO, "member", has_account=True)

    async def _offer(self, organization: DemoOrganization, external_id: str) -> str:
        wanted = {"organization": organization.slug, "external_id": external_id}
        offer = await self._owner(ACME, "POST", f"/services/{SHOP}/customers", wanted)
        return offer["id"]

    async def _connect_provider(self) -> None:
        """Connect the identity provider of the first customer, and let its mail domain lead there."""
        connection = {
            "type": "oidc",
            "name": BOLT.name,
            "issuer": f"{self.shop_url}{story.PROVIDER_PATH}",
            "client_id": identity_provider.CLIENT_ID,
            "client_secret": self.provider_secret,
        }
        made = await self._owner(BOLT, "POST", "/upstream-providers", connection)
        route = {"domain": MAIL_DOMAIN, "provider_id": made["id"]}
        claim = await self._owner(BOLT, "POST", "/domain-routes", route)
        self.names.records[claim["txt_name"]] = claim["txt_value"]
        await self._owner(BOLT, "POST", f"/domain-routes/{claim['id']}/verify", {})

    async def _provision(self) -> str:
        """Let the directory of the first customer add people and a group; return the id of the group."""
        made = await self._owner(BOLT, "POST", "/scim-tokens", {"name": "Directory", "groups": "directory"})

        async def send(resource: str, body: dict[str, Any]) -> Any:
            path = f"/scim/v2/{resource}"
            return await self.past.request(story.DIRECTORY_CLIENT, "POST", path, body, token=made["token"])

        ids: dict[str, str] = {}
        for email in DIRECTORY:
            user = {
                "schemas": [USER_SCHEMA],
                "userName": email,
                "displayName": name_of(email),
                "emails": [{"value": email, "primary": True}],
            }
            ids[email] = (await send("Users", user))["id"]
        members = [{"value": ids[email]} for email in IN_WAREHOUSE]
        group = {"schemas": [GROUP_SCHEMA], "displayName": story.WAREHOUSE, "members": members}
        return (await send("Groups", group))["id"]

    async def _webhook(self, organization: DemoOrganization, name: str, url: str) -> Any:
        types = await self._owner(organization, "GET", "/webhooks/event-types")
        wanted = [one["value"] for one in types if one["value"] != "webhook.test"]
        return await self._owner(organization, "POST", "/webhooks", {"name": name, "url": url, "events": wanted})

    async def _day(self, day: int) -> None:
        """Let a day pass: people sign in, sometimes with a wrong password, and some subscribe."""
        is_weekend = self._at(day, 0).weekday() >= 5
        people = [email for organization in ORGANIZATIONS for email in organization.addresses] + list(INDIVIDUALS)
        likely = SIGNS_IN / 3 if is_weekend else SIGNS_IN
        coming = [
            (self._at(day, self.chance.randrange(7, 20), self.chance.randrange(60)), email)
            for email in people
            if self.chance.random() < likely
        ]
        for moment, email in sorted(coming):
            self.past.clock.move_to(moment)
            await self.past.work()
            await self._visit(email)
        if day in {6, 13, 20}:
            self.past.clock.move_to(self._at(day, 20, 30))
            await self._subscribe(day)
        if day == 17:
            self.past.clock.move_to(self._at(day, 21, 40))
            await self._guess()
        if day == story.OFFERED_ON_DAY:
            await self._offer(*story.OFFERED)
        self.past.clock.move_to(self._at(day, 22, 30))
        await self.past.work()
        await self.past.seal()

    async def _visit(self, email: str) -> None:
        if self.chance.random() < IS_WRONG:
            wrong = {"email": email, "password": "a wrong password"}
            await self.past.request(visitor_of(email), "POST", "/api/auth/login", wrong, refused=401)
            await self._later(1)
        if email in INDIVIDUALS:
            await self._sign_in(email, org_slug=ACME.slug, service_slug=SHOP)
            return
        organization = next(one for one in ORGANIZATIONS if email in one.addresses)
        if organization in BUYERS and self.chance.random() < IS_AT_THE_SHOP:
            customer = self.chance.choice((BOLT, CORD)) if email == IN_TWO else organization
            await self._sign_in(email, org_slug=ACME.slug, service_slug=SHOP, customer=customer.slug)
        else:
            await self._sign_in(email, org_slug=organization.slug)

    async def _guess(self) -> None:
        """Let a stranger guess the password of an owner, in vain."""
        for _ in range(6):
            wrong = {"email": BOLT.addresses[0], "password": "letmein"}
            await self.past.request(STRANGER, "POST", "/api/auth/login", wrong, refused=401)
            await self._later(1)

    async def _subscribe(self, day: int) -> None:
        """Let two people subscribe for themselves, as the backend of the shop tells."""
        found = await self.past.request(story.BACKEND, "GET", "/api/service/users?limit=100", key=self.key)
        ids = {user["email"]: user["id"] for user in found["users"]}
        first = (day // 7) * 2
        for email, plan in zip(INDIVIDUALS[first : first + 2], ("Workshop", "Factory"), strict=True):
            wanted = {"user_id": ids[email], "plan_id": self.plans[plan]}
            await self.past.request(story.BACKEND, "POST", "/api/service/subscriptions", wanted, key=self.key)
            await self._later(3)


def receiver(began_at: datetime) -> Callable[[str, datetime], Attempt]:
    """Return how the receivers of the demo answered: one was away for some hours, one is gone since the third week."""

    def answer(url: str, at: datetime) -> Attempt:
        since = at - began_at
        if "cord" in url and since > story.GONE_AFTER:
            return Attempt(status_code=410, body="This address is no longer in use.", error=None)
        if "bolt" in url and story.AWAY[0] < since < story.AWAY[1]:
            return Attempt(status_code=503, body="Service Unavailable", error="The receiver answered 503.")
        return Attempt(status_code=200, body="ok", error=None)

    return answer


def beginning(now: datetime) -> datetime:
    """Return the midnight at which the month begins."""
    return (now.astimezone(UTC) - timedelta(days=story.DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
