"""Fills an installation with the month of the demo: each step happens at its time, and the clock only moves forward."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from core.accounts import new_passwords
from core.attempts import Attempt
from core.lazy_dataclasses import dataclass
from core.platform import owners
from entrypoints.demo import story
from entrypoints.demo.past import Past, Visitor
from entrypoints.demo.story import (
    ACME,
    BOLT,
    CORD,
    CUSTOMERS,
    ORGANIZATIONS,
    PASSWORD,
    SHOP,
    DemoOrganization,
    visitor_of,
)
from entrypoints.shared.accounts.new_passwords import hashed

if TYPE_CHECKING:
    from entrypoints.progress import Progress

# How often a person signs in on a working day, and how often with a wrong password first.
SIGNS_IN: Final = 0.55
IS_WRONG: Final = 0.08
STRANGER: Final = Visitor("203.0.113.66", "python-requests/2.32")
PERMISSIONS: Final = ("read:users", "write:users", "read:subscriptions", "write:subscriptions", "read:analytics")
# The same demo each time, apart from secrets.
SEED: Final = 2026


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoService:
    """What the small application of the demo has to know."""

    client_id: str
    client_secret: str
    webhook_secret: str


@dataclass
class DemoMonth:
    """The month that is being made."""

    past: Past
    began_at: datetime
    shop_url: str
    report: Callable[[str], None]
    progress: Progress
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311 - decides no secret
    plans: dict[str, str] = field(default_factory=dict[str, str])
    key: str = ""

    async def fill(self) -> DemoService:
        """Make the month, and return what the small application needs."""
        installation = self.past.installation
        new = new_passwords.accepted(PASSWORD, "password", installation.password_rules, [story.PLATFORM_OWNER])
        await installation.database.transact(owners.appoint, story.PLATFORM_OWNER, await hashed(installation, new))
        for organization in ORGANIZATIONS:
            self.report(f"Creating {organization.name} …")
            await self._found(organization)
        self.report("Opening the shop …")
        service = await self._open_shop()
        for organization, url in ((BOLT, "https://hooks.bolt.example/in"), (CORD, "https://old.cord.example/hooks")):
            await self._webhook(organization, "Order system", url)
        for day in range(4, story.DAYS):
            self.progress.show(day, "days", total=story.DAYS)
            await self._day(day)
        await self.past.seal()
        return service

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
        account = {"email": email, "password": PASSWORD}
        await self.past.request(visitor, "POST", "/api/auth/register", account)
        await self.past.request(visitor, "GET", await self.past.mailed_link(email))
        await self._later(2)
        return await self._sign_in(email)

    async def _sign_in(self, email: str, **destination: str) -> str:
        answer = await self.past.request(
            visitor_of(email), "POST", "/api/auth/login", {"email": email, "password": PASSWORD, **destination}
        )
        return answer["access_token"]

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
        owner = organization.addresses[0]
        answer = await self.past.request(
            visitor_of(owner),
            "POST",
            f"/api/organizations/{organization.slug}/invitations",
            {"email": email, "role": role},
            token=await self._sign_in(owner),
        )
        return answer["token"]

    async def _join(self, organization: DemoOrganization, email: str, role: str) -> None:
        invited = await self._invite(organization, email, role)
        visitor = visitor_of(email)
        proof = (await self.past.mailed_link(email)).rpartition("=")[2]
        await self._later(11)
        token = await self._register(email)
        answer = {"token": invited, "proof": proof}
        await self.past.request(visitor, "POST", "/api/invitations/accept", answer, token=token)

    async def _open_shop(self) -> DemoService:
        owner = ACME.addresses[0]
        self.past.clock.move_to(self._at(3, 9, 20))
        token = await self._sign_in(owner)

        async def send(path: str, body: dict[str, Any]) -> Any:
            return await self.past.request(visitor_of(owner), "POST", f"{path}", body, token=token)

        services = f"/api/organizations/{ACME.slug}/services"
        made = await send(
            services,
            {
                "slug": SHOP,
                "name": "Acme Shop",
                "service_type": "web",
                "redirect_uris": [f"{self.shop_url}/callback"],
                "post_logout_redirect_uris": [f"{self.shop_url}/"],
            },
        )
        for name, cents in (("Workshop", 1900), ("Factory", 9900)):
            plan = await send(
                f"{services}/{SHOP}/plans", {"name": name, "price_cents": cents, "features": [name.lower()]}
            )
            self.plans[name] = plan["id"]
        key = await send(f"{services}/{SHOP}/api-keys", {"name": "Backend", "permissions": list(PERMISSIONS)})
        self.key = key["key"]
        webhook = await self._webhook(ACME, "Shop", f"{self.shop_url}/webhooks")
        for email in CUSTOMERS:
            await self._later(31)
            await self._register(email)
            await self._sign_in(email, org_slug=ACME.slug, service_slug=SHOP)
        return DemoService(
            client_id=made["service"]["client_id"],
            client_secret=made["client_secret"],
            webhook_secret=webhook["secret"],
        )

    async def _webhook(self, organization: DemoOrganization, name: str, url: str) -> Any:
        owner = organization.addresses[0]
        token, path = await self._sign_in(owner), f"/api/organizations/{organization.slug}"
        visitor = visitor_of(owner)
        types = await self.past.request(visitor, "GET", f"{path}/webhooks/event-types", token=token)
        wanted = [one["value"] for one in types if one["value"] != "webhook.test"]
        return await self.past.request(
            visitor, "POST", f"{path}/webhooks", {"name": name, "url": url, "events": wanted}, token=token
        )

    async def _day(self, day: int) -> None:
        """Let a day pass: people sign in, sometimes with a wrong password, and customers subscribe."""
        is_weekend = self._at(day, 0).weekday() >= 5
        people = [email for organization in ORGANIZATIONS for email in organization.addresses] + list(CUSTOMERS)
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
        self.past.clock.move_to(self._at(day, 22, 30))
        await self.past.work()
        await self.past.seal()

    async def _visit(self, email: str) -> None:
        if self.chance.random() < IS_WRONG:
            wrong = {"email": email, "password": "a wrong password"}
            await self.past.request(visitor_of(email), "POST", "/api/auth/login", wrong, refused=401)
            await self._later(1)
        if email in CUSTOMERS:
            await self._sign_in(email, org_slug=ACME.slug, service_slug=SHOP)
        else:
            organization = next(one for one in ORGANIZATIONS if email in one.addresses)
            await self._sign_in(email, org_slug=organization.slug)

    async def _guess(self) -> None:
        """Let a stranger guess the password of an owner, in vain."""
        for _ in range(6):
            wrong = {"email": BOLT.addresses[0], "password": "letmein"}
            await self.past.request(STRANGER, "POST", "/api/auth/login", wrong, refused=401)
            await self._later(1)

    async def _subscribe(self, day: int) -> None:
        """Let two customers subscribe, as the backend of the shop tells."""
        found = await self.past.request(story.BACKEND, "GET", "/api/service/users?limit=100", key=self.key)
        ids = {user["email"]: user["id"] for user in found["users"]}
        first = (day // 7) * 2
        for email, plan in zip(CUSTOMERS[first : first + 2], ("Workshop", "Factory"), strict=True):
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
