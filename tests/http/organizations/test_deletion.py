"""Organizations that their owners have deleted: closed at once, restorable for 14 days, then removed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.errors import ServiceUnavailable
from core.organizations.organizations import RESTORABLE_FOR
from core.platform import ended_organizations
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.backend import KEY, insert_key
from tests.world.builder import TIERS
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.domains import DOMAIN, insert_verified
from tests.world.organization_keys import KEY as ORGANIZATION_KEY
from tests.world.organization_keys import insert_program
from tests.world.saml import SamlService, SamlWorld
from tests.world.setups import Setups, path_of
from tests.world.signing_in import Tokens
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

MINUTE = timedelta(minutes=1)
ACME = "/api/organizations/acme"
INVITATION = {"email": "guest@example.com", "role": "member"}
RESTORATION = "/app/deleted-organizations/acme"


@dataclass
class Doors:
    """Acme with everything that leads to it: people and programs by each way."""

    team: Team
    setups: Setups
    browser: Visitor
    saml: SamlService
    client_id: UUID
    connection_id: UUID
    invitation: str
    setup_link: str
    inside: Tokens
    at_service: Tokens

    @property
    def world(self) -> World:
        """The world of the team."""
        return self.team.world

    async def get(self, path: str, **options: Any) -> Answer:
        """Send a GET."""
        return await self.world.client.get(path, **options)

    async def post(self, path: str, body: Any, **options: Any) -> Answer:
        """Send a POST."""
        return await self.world.client.post(path, body=body, **options)

    async def page(self, path: str, *, host: str = "localhost:8000") -> Answer:
        """Open a page in a browser without a session, without following where it leads."""
        return await Visitor(self.world.client).send("GET", path, headers={"Host": host})


DOORS: dict[str, Callable[[Doors], Awaitable[Answer]]] = {
    "its path": lambda doors: doors.team.request("owner", "GET", ""),
    "a list in it": lambda doors: doors.team.request("admin", "GET", "/members"),
    "selecting it": lambda doors: doors.team.request("member", "POST", "/select"),
    "the list of one's own": lambda doors: doors.get("/api/organizations", token=doors.team.tokens["member"]),
    "its branding": lambda doors: doors.get(f"{ACME}/branding/public"),
    "its console": lambda doors: doors.browser.open("/app/organizations/acme"),
    "the page of one's own": lambda doors: doors.browser.open("/app/organizations"),
    "the page of one's account": lambda doors: doors.browser.open("/app/account/organizations"),
    "a button that leaves it": lambda doors: doors.team.request("member", "POST", "/leave"),
    "a key of the organization": lambda doors: doors.get(f"{ACME}/members", headers={"X-Api-Key": ORGANIZATION_KEY}),
    "a key of a service": lambda doors: doors.get("/api/service/info", headers={"X-Api-Key": KEY}),
    "a SCIM token": lambda doors: doors.get("/scim/v2/Users", token=TOKEN),
    "the metadata of SAML": lambda doors: doors.get(f"{doors.saml.path}/metadata"),
    "a sign-in by SAML": lambda doors: doors.page(doors.saml.sso()),
    "a client": lambda doors: doors.page(f"/auth/authorize?client_id={doors.client_id}&response_type=code"),
    "the start at a client": lambda doors: doors.page(f"/auth/start/{doors.client_id}"),
    "a device": lambda doors: doors.post("/auth/device/code", {"client_id": str(doors.client_id)}),
    "a custom domain": lambda doors: doors.page("/app/sign-in", host=DOMAIN),
    "a connection": lambda doors: doors.page(f"/auth/upstream?connection_id={doors.connection_id}"),
    "a mail domain": lambda doors: doors.post("/api/auth/lookup-email", {"email": "eve@acme.example"}),
    "a sign-in to it": lambda doors: doors.world.log_in("member@example.com", org_slug="acme"),
    "a sign-in to a service": lambda doors: doors.world.log_in("eve@example.com", org_slug="acme", service_slug="shop"),
    "an invitation": lambda doors: doors.post("/api/invitations/accept", {"token": doors.invitation}),
    "the page of an invitation": lambda doors: doors.page(f"/app/invitations/accept?token={doors.invitation}"),
    "received invitations": lambda doors: doors.get("/api/invitations", token=doors.team.tokens["guest"]),
    "a setup link": lambda doors: doors.page(doors.setup_link),
    "a setup that has begun": lambda doors: doors.setups.open("domain"),
    "a session in it": lambda doors: doors.get("/api/user", token=doors.inside.access_token),
    "a session of a service": lambda doors: doors.get("/api/user", token=doors.at_service.access_token),
    "a refresh token": lambda doors: doors.world.refresh(doors.at_service.refresh_token),
    "the applications of a user": lambda doors: doors.browser.open("/app/account/applications"),
    "what a user may open": lambda doors: doors.browser.open("/app/account/my-applications"),
}
# What opens once, so that it is not tried before.
ONCE = {"an invitation", "a refresh token", "a button that leaves it"}


@pytest.fixture
async def doors(team: Team) -> Doors:
    """Acme with everything that leads to it."""
    world, acme = team.world, team.organization_id
    saml = await SamlWorld(world).service(acme, "acme")
    [(service_id, client_id)] = world.rows(
        """
        UPDATE services
        SET    redirect_uris = '{https://shop.example/}', initiate_login_uri = 'https://shop.example/start'
        RETURNING id, client_id
        """
    )
    insert_program(team)
    insert_key(world, acme, service_id, KEY)
    insert_scim_token(world, acme, TOKEN)
    insert_verified(world, acme)
    world.mail_domain(acme, "acme.example")
    world.connection.execute("UPDATE upstream_connections SET enabled = true, issuer = 'https://idp.example'")
    for name in ("guest", "eve"):
        team.user(name)
    for name in ("owner", "admin", "member", "guest", "eve"):
        await team.token(name)
    browser = Visitor(world.client)
    await world.sign_in("member@example.com", org_slug="acme", service_slug="shop")
    await browser.sign_in("member@example.com")
    setups = Setups(team, Visitor(world.client))
    link = await setups.create()
    await setups.begin(link)
    return Doors(
        team=team,
        setups=setups,
        browser=browser,
        saml=saml,
        client_id=client_id,
        connection_id=world.value("SELECT id FROM upstream_connections"),
        invitation=(await team.request("owner", "POST", "/invitations", body=INVITATION)).json["token"],
        setup_link=path_of(link),
        inside=await world.sign_in("member@example.com", org_slug="acme"),
        at_service=await world.sign_in("eve@example.com", org_slug="acme", service_slug="shop"),
    )


def close(world: World) -> None:
    """Mark Acme as deleted by its owner, in its row alone: nothing that it has issued has ended."""
    world.connection.execute(
        "UPDATE organizations SET status = 'deleting', status_before_deletion = status, deletes_at = %s",
        (world.clock() + RESTORABLE_FOR,),
    )


def seen(answer: Answer) -> tuple[int, str, str]:
    """Return what an answer tells, without the values that differ in every answer."""
    text = re.sub(r'"(request_id|timestamp)":"[^"]*",?|\b[0-9a-f]{32}\b', "", answer.text)
    shown = re.sub(r"<[^>]*>", " ", text.partition("<main")[2] or text)
    return answer.status, re.sub(r"=[^&]*", "=", answer.headers.get("Location", "")), " ".join(shown.split())


async def test_every_door_is_closed_by_the_row_alone_as_where_there_is_no_organization(
    doors: Doors, subtests: pytest.Subtests
) -> None:
    opened = {name: seen(await knock(doors)) for name, knock in DOORS.items() if name not in ONCE}

    close(doors.world)
    closed = {name: seen(await knock(doors)) for name, knock in DOORS.items()}
    doors.world.connection.execute("DELETE FROM organizations")
    gone = {name: seen(await knock(doors)) for name, knock in DOORS.items()}

    for name in DOORS:
        with subtests.test(door=name):
            assert closed[name] == gone[name]
            assert name in ONCE or opened[name] != closed[name], "the door was closed before"


async def delete(team: Team) -> None:
    """Delete the organization of a team as its owner."""
    answer = await team.request("owner", "DELETE", "")
    assert (answer.status, answer.content) == (204, b"")


async def restore(browser: Visitor, path: str = RESTORATION) -> Answer:
    """Restore an organization on its page."""
    return await browser.submit(await browser.open(path), path)


async def send_restoration(browser: Visitor) -> Answer:
    """Send the form of the page, which may not be shown, in a browser that is signed in."""
    [token] = {form.fields["form_token"] for form in forms_of(await browser.open("/app/organizations"))}
    return await browser.post(RESTORATION, {"form_token": token})


@pytest.fixture
async def owner(team: Team) -> Visitor:
    """The browser of the owner."""
    browser = Visitor(team.world.client)
    await browser.sign_in("owner@example.com")
    return browser


def status_of(world: World) -> str | None:
    """Return the status of Acme; None when it is gone."""
    rows = world.rows("SELECT status FROM organizations WHERE slug = 'acme'")
    return rows[0][0] if rows else None


class TestDeleting:
    """Deleting it as its owner."""

    async def test_one_that_never_had_another_member_is_gone_at_once(self, world: World) -> None:
        solo = world.team("acme")
        solo.add("owner", "owner")

        await delete(solo)

        assert status_of(world) is None
        [(actor, details)] = world.platform_audit_entries("organization.deleted", "actor_user_id", "details")
        assert (actor, details["slug"], details["status"]) == (solo.ids["owner"], "acme", "active")
        assert await world.mails() == []

    async def test_a_member_who_has_left_counts(self, team: Team) -> None:
        for name in ("admin", "member"):
            assert (await team.request(name, "POST", "/leave")).status == 204

        await delete(team)

        assert status_of(team.world) == "deleting"

    async def test_it_is_recorded_and_the_owner_and_the_admins_are_told_until_when_it_can_be_restored(
        self, team: Team
    ) -> None:
        team.add("boss", "admin")
        team.world.connection.execute(
            "UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (team.ids["boss"],)
        )
        await team.token("owner")
        await team.world.mails()

        await delete(team)

        mails = {mail.to: mail for mail in await team.world.mails()}
        assert set(mails) == {"owner@example.com", "admin@example.com"}
        assert mails["admin@example.com"].template == "organization_deleted"
        assert mails["admin@example.com"].values == {
            "organization": "Acme",
            "by": "owner@example.com",
            "until": "2026-02-17 04:05 UTC",
        }
        details = {"restorable_until": "2026-02-17T04:05:06Z", "subscriptions": 0}
        assert team.world.audit_entries("organization.deleted", "actor_user_id", "details") == [
            (team.ids["owner"], details)
        ]
        assert team.world.events("organization.deleted")[0][2] == details
        assert team.world.platform_audit_entries("organization.deleted") == []

    async def test_the_slug_and_the_domains_stay_taken(self, team: Team) -> None:
        world = team.world
        insert_verified(world, team.organization_id)
        await delete(team)

        stranger = await world.signed_in_user("stranger@example.com")
        answer = await stranger.post("/api/organizations", {"slug": "acme", "name": "Acme"})

        assert answer.status == 409
        with pytest.raises(psycopg.errors.UniqueViolation):
            insert_verified(world, world.organization("bolt"))

    async def test_an_offer_of_a_product_binds_it_as_little_as_one_that_does_not_exist(self, team: Team) -> None:
        vendor = team.world.team("vendor")
        vendor.add("seller", "owner")
        team.world.serve_customers(team.world.service(vendor.organization_id, "desk"))
        await delete(team)

        answer = await vendor.request("seller", "POST", "/services/desk/customers", body={"organization": "acme"})

        assert answer.status == 200
        assert team.world.value("SELECT offered_to FROM service_customers") is None

    async def test_both_sides_of_a_product_learn_that_its_use_has_ended(self, team: Team) -> None:
        world = team.world
        vendor, customer = world.team("vendor"), world.team("customer")
        world.customer(world.service(vendor.organization_id, "desk"), team.organization_id)
        world.customer(world.service(team.organization_id, "shop"), customer.organization_id)

        await delete(team)

        assert world.value("SELECT count(*) FROM service_customers") == 0
        [(details,)] = world.audit_entries("customer.ended", "details", organization_id=vendor.organization_id)
        assert (details["by"], details["organization_slug"]) == ("customer", "acme")
        [(details,)] = world.audit_entries("product_access.ended", "details", organization_id=customer.organization_id)
        assert (details["by"], details["vendor_slug"]) == ("vendor", "acme")
        own = world.rows(
            "SELECT action FROM audit_entries WHERE organization_id = %s ORDER BY action", team.organization_id
        )
        assert own == [("customer.ended",), ("organization.deleted",), ("product_access.ended",)]

    async def test_a_subscription_that_is_paid_for_is_cancelled_at_the_provider(self, team: Team) -> None:
        world = team.world
        plan_id = world.plan(team.organization_id, world.service(team.organization_id, "shop").id)
        subscription_id = world.subscription(plan_id, team.ids["member"])
        world.connection.execute(
            """
            INSERT INTO billing_subscriptions (id, mode, organization_id, service_id, user_id, plan_id, outcome,
                                               check_at, created_at, updated_at)
            SELECT 'sub_1', 'sandbox', organization_id, service_id, user_id, plan_id, 'applied', now(), now(), now()
            FROM   subscriptions
            """
        )
        world.connection.execute("UPDATE subscriptions SET billing_subscription_id = 'sub_1'")

        await delete(team)

        assert world.rows("SELECT id, status, billing_subscription_id FROM subscriptions") == [
            (subscription_id, "cancelled", None)
        ]
        assert world.rows("SELECT id FROM billing_cancellations") == [("sub_1",)]

    async def test_a_member_may_close_their_account_and_the_owner_may_not_before_it_is_gone(self, team: Team) -> None:
        await delete(team)
        member, owner = [await team.world.sign_in(f"{name}@example.com") for name in ("member", "owner")]

        closed = await team.world.client.delete("/api/user", token=member.access_token)
        kept = await team.world.client.delete("/api/user", token=owner.access_token)

        assert (closed.status, kept.status) == (204, 403)
        assert "can still restore" in kept.json["error"]


class TestPlatform:
    """What the platform sees of it, and does."""

    async def test_it_is_in_its_list_and_record_with_state_and_time(self, team: Team) -> None:
        root = await team.world.signed_in_platform_owner()
        await delete(team)

        listed = (await root.get("/api/platform/organizations?status=deleting")).json
        active = (await root.get("/api/platform/organizations?status=active")).json

        [one] = listed["organizations"]
        assert (one["organization"]["slug"], one["organization"]["status"]) == ("acme", "deleting")
        assert one["organization"]["deletes_at"] == "2026-02-17T04:05:06Z"
        assert active["total"] == 0

    @pytest.mark.parametrize("verb", ["approve", "suspend", "activate"])
    async def test_no_decision_changes_its_status(self, team: Team, verb: str) -> None:
        root = await team.world.signed_in_platform_owner()
        await delete(team)

        answer = await root.post(f"/api/platform/organizations/{team.organization_id}/{verb}", {})

        assert (answer.status, status_of(team.world)) == (400, "deleting")

    async def test_its_tier_is_changed_without_restoring_it(self, team: Team, owner: Visitor) -> None:
        root = await team.world.signed_in_platform_owner()
        await delete(team)

        body = {"tier_id": str(TIERS["enterprise"])}
        answer = await root.patch(f"/api/platform/organizations/{team.organization_id}/tier", body)
        await restore(owner)

        assert answer.status == 200, answer.text
        assert status_of(team.world) == "active"

    async def test_its_own_deletion_is_at_once_and_for_good(self, team: Team) -> None:
        root = await team.world.signed_in_platform_owner()
        await delete(team)

        answer = await root.delete(f"/api/platform/organizations/{team.organization_id}")

        assert (answer.status, status_of(team.world)) == (204, None)


class TestRestoring:
    """Restoring it as its owner, on a page."""

    async def test_it_comes_back_without_what_has_ended(self, team: Team, owner: Visitor) -> None:
        world = team.world
        shop = world.service(team.organization_id, "shop")
        insert_key(world, team.organization_id, shop.id, KEY)
        insert_program(team)
        await team.request("owner", "POST", "/invitations", body=INVITATION)
        inside = await world.sign_in("member@example.com", org_slug="acme")
        await delete(team)

        asked = await owner.open(RESTORATION)
        restored = await owner.submit(asked, RESTORATION)

        assert "You can restore it before" in asked.text
        assert "<dt>Members</dt><dd>3</dd>" in asked.text
        assert "The organization is restored." in restored.text
        assert status_of(world) == "active"
        assert team.role_of("admin") == "admin"
        assert "shop" in (await team.request("owner", "GET", "/services")).text
        assert (await world.client.get("/api/user", token=inside.access_token)).status == 401
        counts = [world.value(f"SELECT count(*) FROM {table}") for table in ("api_keys", "organization_keys")]
        assert (counts, world.rows("SELECT status FROM invitations")) == ([0, 0], [("cancelled",)])
        assert world.audit_entries("organization.restored", "actor_user_id", "details") == [(team.ids["owner"], {})]
        assert await world.log_in("member@example.com", org_slug="acme")

    @pytest.mark.parametrize("status", ["pending", "rejected", "active"])
    async def test_it_gets_the_status_back_that_it_had(self, team: Team, owner: Visitor, status: str) -> None:
        team.world.connection.execute("UPDATE organizations SET status = %s", (status,))
        await delete(team)

        await restore(owner)

        assert status_of(team.world) == status

    async def test_the_page_of_its_owner_lists_it_and_nobody_else_s_does(self, team: Team, owner: Visitor) -> None:
        admin = Visitor(team.world.client)
        await admin.sign_in("admin@example.com")
        await delete(team)

        mine, theirs = await owner.open("/app/organizations"), await admin.open("/app/organizations")
        account = await owner.open("/app/account/organizations")

        assert f'href="{RESTORATION}"' in mine.text
        assert RESTORATION not in theirs.text + account.text
        assert (await admin.open(RESTORATION)).status == 404

    async def test_only_its_owner_restores_it(self, team: Team) -> None:
        bolt = team.world.team("bolt")
        bolt.add("stranger", "owner")
        browsers = [Visitor(team.world.client) for _ in range(3)]
        for name, browser in zip(("admin", "member", "stranger"), browsers, strict=True):
            await browser.sign_in(f"{name}@example.com")
        await delete(team)

        answers = [await send_restoration(browser) for browser in browsers]

        assert [answer.status for answer in answers] == [404] * 3
        assert status_of(team.world) == "deleting"

    async def test_one_that_is_not_deleted_is_not_restored(self, team: Team, owner: Visitor) -> None:
        assert (await owner.open(RESTORATION)).status == 404
        assert (await send_restoration(owner)).status == 404
        assert team.world.audit_entries("organization.restored") == []

    async def test_it_asks_to_sign_in_again(self, team: Team, owner: Visitor) -> None:
        await delete(team)
        form = await owner.open(RESTORATION)
        team.world.clock.advance(timedelta(minutes=11))

        asked, sent = await owner.open(RESTORATION), await owner.submit(form, RESTORATION)

        assert 'action="/app/sign-in-again"' in asked.text
        assert 'action="/app/sign-in-again"' in sent.text
        assert status_of(team.world) == "deleting"

    async def test_where_it_requires_a_second_factor_one_factor_does_not_restore_it(
        self, team: Team, owner: Visitor
    ) -> None:
        await delete(team)
        team.world.connection.execute("UPDATE organizations SET mfa_required = true")

        refused = await restore(owner)

        assert (refused.status, status_of(team.world)) == (403, "deleting")

    async def test_where_it_requires_a_second_factor_two_factors_restore_it(self, team: Team, owner: Visitor) -> None:
        await delete(team)
        team.world.connection.execute("UPDATE organizations SET mfa_required = true")
        team.world.connection.execute("UPDATE sessions SET amr = amr || '{mfa}'")

        await restore(owner)

        assert status_of(team.world) == "active"

    async def test_a_session_that_is_confined_elsewhere_neither_shows_nor_restores_it(
        self, team: Team, owner: Visitor
    ) -> None:
        await delete(team)
        form = await owner.open(RESTORATION)
        team.world.connection.execute(
            "UPDATE sessions SET confined_to = %s WHERE user_id = %s",
            (team.world.organization("bolt"), team.ids["owner"]),
        )

        listed, refused = await owner.open("/app/organizations"), await owner.submit(form, RESTORATION)

        assert RESTORATION not in listed.text
        assert (refused.status, status_of(team.world)) == (404, "deleting")


class TestEnd:
    """The end of the 14 days, by the housekeeper."""

    async def test_it_is_gone_when_its_time_is_over_and_the_platform_s_log_says_so(
        self, team: Team, owner: Visitor, database: PostgresDatabase
    ) -> None:
        world = team.world
        world.organization("bolt")
        await delete(team)

        world.clock.advance(RESTORABLE_FOR - MINUTE)
        assert not await database.transact(ended_organizations.delete_next)
        await owner.sign_in("owner@example.com")
        world.clock.advance(MINUTE)
        late = await send_restoration(owner)
        parts = 0
        while await database.transact(ended_organizations.delete_next):
            parts += 1

        assert (late.status, status_of(world)) == (404, None)
        assert parts > 1, "what an organization has very many of goes in batches"
        assert world.value("SELECT count(*) FROM organizations") == 1
        [(actor, details)] = world.platform_audit_entries("organization.deleted", "actor_user_id", "details")
        assert (actor, details) == (None, {"slug": "acme", "name": "Acme", "status": "deleting"})

    async def test_what_is_interrupted_goes_on(self, team: Team, database: PostgresDatabase) -> None:
        await delete(team)
        team.world.clock.advance(RESTORABLE_FOR)

        async def interrupted() -> None:
            def first_part(uow: UnitOfWork) -> None:
                ended_organizations.delete_next(uow)
                raise ServiceUnavailable(retry_after_seconds=1)

            with pytest.raises(ServiceUnavailable):
                await database.transact(first_part)

        while status_of(team.world) is not None:
            await interrupted()
            await database.transact(ended_organizations.delete_next)

        assert team.world.value("SELECT count(*) FROM memberships") == 0

    async def test_two_housekeepers_delete_it_once(self, team: Team, database: PostgresDatabase) -> None:
        await delete(team)
        team.world.clock.advance(RESTORABLE_FOR)

        async def delete_all() -> None:
            while await database.transact(ended_organizations.delete_next):
                pass

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(delete_all)

        assert status_of(team.world) is None
        assert len(team.world.platform_audit_entries("organization.deleted")) == 1


class TestRaces:
    """Of two people who decide at once, one wins."""

    async def test_of_two_deletions_one_succeeds_and_is_recorded(self, team: Team) -> None:
        await team.token("owner")

        answers = await at_once(*[partial(team.request, "owner", "DELETE", "")] * 2)

        assert statuses_of(answers) == [204, 404]
        assert len(team.world.audit_entries("organization.deleted")) == 1

    async def test_of_two_restorations_one_is_recorded(self, team: Team, owner: Visitor) -> None:
        await delete(team)
        form = await owner.open(RESTORATION)

        answers = await at_once(*[partial(owner.submit, form, RESTORATION)] * 2)

        assert statuses_of(answers) == [200, 404]
        assert len(team.world.audit_entries("organization.restored")) == 1

    async def test_a_deletion_by_the_platform_beside_a_restoration_leaves_it_gone(
        self, team: Team, owner: Visitor
    ) -> None:
        root = await team.world.signed_in_platform_owner()
        await delete(team)
        form = await owner.open(RESTORATION)

        answers = await at_once(
            partial(owner.submit, form, RESTORATION),
            partial(root.delete, f"/api/platform/organizations/{team.organization_id}"),
        )

        assert statuses_of(answers) in ([200, 204], [204, 404])
        assert status_of(team.world) is None

    async def test_a_restoration_that_holds_the_row_keeps_the_housekeeper_away(
        self, team: Team, database: PostgresDatabase, connection: Connection
    ) -> None:
        await delete(team)
        team.world.clock.advance(RESTORABLE_FOR)
        with connection.transaction():
            connection.execute("SELECT FROM organizations WHERE slug = 'acme' FOR NO KEY UPDATE")

            assert not await database.transact(ended_organizations.delete_next)

        assert await database.transact(ended_organizations.delete_next)
