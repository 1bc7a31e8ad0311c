"""Setup links: settings that a customer's IT staff fill in without an account."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from core.organizations.setup_links import AVAILABLE, DAYS_BY_DEFAULT, DAYS_MAX, LINKS_MAX
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from entrypoints.pages.organizations.setup import DOMAIN as DOMAIN_PAGE
from entrypoints.pages.organizations.setup import PARTS, SETUP
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.domains import DOMAIN, Domains
from tests.world.setups import BASE_URL, Setups, path_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World, assert_refused

DELETE = "/app/setup/parts/domain/delete"
VERIFY = "/app/setup/parts/domain/verify"


@dataclass
class DomainSetups(Setups):
    """The setup links of a team, and its domain."""

    domains: Domains


@pytest.fixture
def setups(domains: Domains) -> DomainSetups:
    """The setup links of the team."""
    return DomainSetups(domains.team, Visitor(domains.team.world.client), domains)


class TestLinks:
    """GET, POST and DELETE /setup-links."""

    async def test_a_link_is_shown_once_and_listed_without_its_secret(self, setups: DomainSetups) -> None:
        created = await setups.create()

        listed = (await setups.request("GET")).json
        url = created.pop("url")
        assert listed == {"setup_links": [created], "total": 1}
        assert (created["parts"], created["service_slug"]) == (["domain"], None)
        assert (created["expires_at"], created["last_used_at"]) == ("2026-02-10T04:05:06Z", None)
        secret = url.rpartition("/")[2]
        [row] = setups.team.world.rows("SELECT setup_links::text FROM setup_links")
        assert secret not in row[0]

    async def test_a_link_can_be_opened_for_as_many_days_as_its_maker_says(self, setups: DomainSetups) -> None:
        link = await setups.create("domain", expires_in_days=30)
        clock = setups.team.world.clock

        clock.advance(timedelta(days=30) - timedelta(seconds=1))
        opened = await setups.visitor.open(path_of(link))
        clock.advance(timedelta(seconds=1))
        over = await Visitor(setups.team.world.client).open(path_of(link))

        assert link["expires_at"] == "2026-03-05T04:05:06Z"
        assert (DAYS_MAX, opened.status, over.status) == (30, 200, 404)

    async def test_invalid_input_is_refused_with_the_field(
        self, setups: DomainSetups, subtests: pytest.Subtests
    ) -> None:
        for field, changes in (
            *(
                ("parts", {"parts": []}),
                ("parts", {"parts": ["domain", "billing"]}),
                ("parts", {"parts": ["tokens"]}),
            ),
            *(("service_slug", {"parts": ["saml"]}), ("service_slug", {"service_slug": "shop"})),
            ("service_slug", {"parts": ["saml"], "service_slug": "unknown"}),
            *(("roles", {"roles": ["member"]}), ("roles", {"parts": ["scim"], "roles": ["member"]})),
            *(("roles", {"parts": ["groups"], "roles": [role]}) for role in ("owner", "nothing")),
            *(("expires_in_days", {"expires_in_days": 0}), ("expires_in_days", {"expires_in_days": DAYS_MAX + 1})),
        ):
            with subtests.test(field=field, changes=changes):
                answer = await setups.request("POST", body={"parts": ["domain"]} | changes)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == [field]

    async def test_its_maker_needs_the_capability_of_every_part(self, setups: DomainSetups) -> None:
        team = setups.team
        team.custom_role("integrator", "integrations.manage")
        team.add("ida", "integrator")

        assert_refused(await setups.request("POST", by="ida", body={"parts": ["domain"]}), 403, "FORBIDDEN")

    @pytest.mark.parametrize(
        ("part", "lacking"),
        [
            *(("scim", "integrations.manage"), ("scim", "org.members.manage")),
            *(("siem", "integrations.manage"), ("siem", "audit_logs.view")),
        ],
    )
    async def test_a_link_gives_nothing_that_its_maker_may_not_set_and_dies_with_the_right(
        self, setups: DomainSetups, part: str, lacking: str
    ) -> None:
        team, body = setups.team, {"parts": [part]}
        needed = {"integrations.manage", "org.members.manage" if part == "scim" else "audit_logs.view"}
        # Without the capability for setup links none is made at all.
        team.custom_role("connector", *needed)
        team.custom_role("nearly", *(needed - {lacking}))
        team.add("ida", "connector")
        team.add("ned", "nearly")
        link = await setups.create(part, by="ida")
        await setups.begin(link)

        refused = await setups.request("POST", by="ned", body=body)
        alive = await setups.open(part)
        team.world.connection.execute("UPDATE memberships SET role = 'nearly' WHERE role = 'connector'")
        dead = await setups.open(part)

        assert_refused(refused, 403, "FORBIDDEN")
        assert lacking in refused.json["error"]
        assert (alive.status, dead.status) == (200, 404)

    async def test_the_number_of_valid_links_is_limited(self, setups: DomainSetups) -> None:
        for _ in range(LINKS_MAX):
            await setups.create()

        assert_refused(await setups.request("POST", body={"parts": ["domain"]}), 400, "BAD_REQUEST")

    async def test_an_unknown_link_cannot_be_revoked(self, setups: DomainSetups) -> None:
        unknown = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"

        assert_refused(await setups.request("DELETE", f"/{unknown}"), 404, "NOT_FOUND")

    def test_every_part_that_can_be_chosen_has_a_page(self) -> None:
        assert set(PARTS) == set(AVAILABLE)


class TestPages:
    """What the holder of a link does."""

    async def test_opening_a_link_begins_nothing_and_its_button_leads_to_the_parts(self, setups: DomainSetups) -> None:
        link = await setups.create()
        opened = await setups.visitor.open(path_of(link))
        without_cookie = await setups.visitor.send("GET", SETUP)

        begun = await setups.begin(link)

        assert "Acme" in opened.text
        assert (opened.headers["Cache-Control"], opened.headers["Referrer-Policy"]) == ("no-store", "strict-origin")
        assert without_cookie.status == 404
        assert f'href="{DOMAIN_PAGE}"' in begun.text
        assert (await setups.request("GET")).json["setup_links"][0]["last_used_at"] == "2026-02-03T04:05:06Z"

    async def test_the_domain_is_set_checked_and_verified_and_all_is_recorded_under_the_link(
        self, setups: DomainSetups
    ) -> None:
        link = await setups.create()
        await setups.begin(link)
        visitor, world = setups.visitor, setups.team.world

        page = await visitor.submit(await visitor.open(DOMAIN_PAGE), DOMAIN_PAGE, domain=DOMAIN)
        claimed = await setups.domains.show()
        missing = await visitor.submit(page, VERIFY)
        setups.domains.names.publish(claimed["txt_name"], "another value")
        wrong = await visitor.submit(page, VERIFY)
        setups.domains.names.publish(claimed["txt_name"], claimed["txt_value"])
        verified = await visitor.submit(page, VERIFY)

        # The base URL has a port, which no record of a name server takes.
        for name, value in (
            ("txt-name", claimed["txt_name"]),
            ("txt-value", claimed["txt_value"]),
            ("cname-name", DOMAIN),
            ("cname-value", "localhost"),
        ):
            assert re.search(f'id="copy-{name}"[^>]*>{value}</textarea>', page.text)
        assert all(name in page.text for name in ("Okta", "Microsoft Entra", "Google Workspace"))
        assert "know no TXT record" in missing.text
        assert "another value" in wrong.text
        assert "The domain is verified" in verified.text
        assert (await setups.domains.show())["status"] == "verified"
        for action in ("domain.set", "domain.verified"):
            [(_, actor, _, details)] = world.audit_entries(action)
            assert (actor, details["setup_link_id"]) == (None, link["id"])
            assert world.rows("SELECT actor_user_id, actor_email FROM events WHERE type = %s", action) == [(None, None)]

    async def test_a_browser_that_is_signed_in_acts_as_the_holder_of_the_link(self, setups: DomainSetups) -> None:
        await setups.visitor.sign_in("member@example.com")
        await setups.begin(await setups.create())

        await setups.visitor.submit(await setups.visitor.open(DOMAIN_PAGE), DOMAIN_PAGE, domain=DOMAIN)

        assert [row[1] for row in setups.team.world.audit_entries("domain.set")] == [None]

    async def test_what_is_no_domain_or_unanswered_is_explained_on_the_page(self, setups: DomainSetups) -> None:
        await setups.begin(await setups.create())
        visitor = setups.visitor
        page = await visitor.open(DOMAIN_PAGE)

        invalid = await visitor.submit(page, DOMAIN_PAGE, domain="no domain")
        own = await visitor.submit(page, DOMAIN_PAGE, domain="localhost")
        early = await visitor.post(VERIFY, forms_of(page)[0].fields)
        set_page = await visitor.submit(page, DOMAIN_PAGE, domain=DOMAIN)
        setups.domains.names.failing.add(f"_gatehouse.{DOMAIN}")
        unanswered = await visitor.submit(set_page, VERIFY)

        assert (invalid.status, own.status, early.status, unanswered.status) == (400, 400, 200, 400)
        assert "This is not a domain" in invalid.text
        assert "gave no answer" in unanswered.text

    async def test_a_domain_of_another_organization_is_explained_on_the_page(
        self, setups: DomainSetups, world: World
    ) -> None:
        await setups.domains.verify()
        globex = world.team("globex")
        globex.ids["owner"] = setups.team.ids["owner"]
        world.member(globex.organization_id, globex.ids["owner"], "owner")
        theirs = DomainSetups(globex, setups.visitor, Domains(globex, setups.domains.names))
        await theirs.begin(await theirs.create())

        page = await setups.visitor.submit(await setups.visitor.open(DOMAIN_PAGE), DOMAIN_PAGE, domain=DOMAIN)
        claimed = await theirs.domains.show()
        setups.domains.names.publish(claimed["txt_name"], claimed["txt_value"])

        assert "Another organization has verified" in (await setups.visitor.submit(page, VERIFY)).text

    async def test_the_domain_is_deleted_once_by_a_page_that_says_what_ends(
        self, setups: DomainSetups, world: World
    ) -> None:
        link = await setups.create()
        await setups.begin(link)
        without = await setups.visitor.open(DELETE)
        await setups.domains.verify()
        there = setups.domains.visitor()
        await there.sign_in("member@example.com")
        [[session_id]] = world.rows("SELECT session_id FROM browser_sessions WHERE domain_id IS NOT NULL")
        page = await setups.visitor.open(DELETE)

        async def delete() -> Answer:
            return await setups.visitor.submit(page, DELETE, is_followed=False)

        answers = await at_once(delete, delete)

        assert without.status == 404
        assert "One session that began there ends." in page.text
        assert not shows(page.text, "passkey")
        assert statuses_of(answers) == [303, 404]
        assert (await there.send("GET", "/app")).status == 404
        assert world.value("SELECT revoked_at IS NOT NULL FROM sessions WHERE id = %s", session_id)
        assert (await setups.domains.request("GET")).status == 404
        assert len(setups.recorded(link, "domain.deleted")) == 1

    async def test_a_domain_that_took_the_place_of_the_shown_one_stays(self, setups: DomainSetups) -> None:
        await setups.begin(await setups.create())
        await setups.domains.claim()
        page = await setups.visitor.open(DELETE)
        await setups.domains.claim("another.example")

        refused = await setups.visitor.submit(page, DELETE)

        assert refused.status == 404
        assert (await setups.domains.show())["domain"] == "another.example"

    async def test_forms_are_taken_from_our_own_pages_only(self, setups: DomainSetups) -> None:
        link = await setups.create()
        await setups.begin(link)
        visitor = setups.visitor
        page, path = await visitor.open(DOMAIN_PAGE), path_of(link)

        answers = [
            await visitor.submit(page, DOMAIN_PAGE, headers={"Sec-Fetch-Site": "cross-site"}, domain=DOMAIN),
            await visitor.submit(page, DOMAIN_PAGE, domain=DOMAIN, form_token="wrong"),
            await visitor.post(path, {}, headers={"Sec-Fetch-Site": "cross-site"}),
        ]

        assert [answer.status for answer in answers] == [403] * 3
        assert_refused(await setups.domains.request("GET"), 404, "NOT_FOUND")

    async def test_the_form_that_begins_belongs_to_the_browser_that_opened_the_link(self, setups: DomainSetups) -> None:
        path = path_of(await setups.create())
        opened = await setups.visitor.open(path)
        [form] = forms_of(opened)
        foreign = Visitor(setups.visitor.client)
        await foreign.open(path)

        answers = [
            await setups.visitor.post(path, {}),
            await setups.visitor.post(path, {"form_token": form.fields["form_token"][::-1]}),
            await foreign.post(path, form.fields),
            await Visitor(setups.visitor.client).post(path, form.fields),
        ]

        assert [answer.status for answer in answers] == [403] * 4
        assert "gatehouse_setup" not in {**setups.visitor.cookies, **foreign.cookies}
        assert (await setups.visitor.post(path, form.fields)).status in {200, 303}
        assert "gatehouse_setup" in setups.visitor.cookies


class TestDeadLinks:
    """When a link, and what was begun with it, ends."""

    async def assert_dead(self, setups: DomainSetups, link: dict[str, Any]) -> None:
        """Assert that neither the link nor its cookie opens anything."""
        opened = await setups.visitor.open(path_of(link))
        page = await setups.visitor.open(DOMAIN_PAGE)

        assert (opened.status, page.status) == (404, 404)
        assert "no longer valid" in opened.text

    async def test_a_revoked_link_is_dead(self, setups: DomainSetups) -> None:
        link = await setups.create()
        await setups.begin(link)

        assert (await setups.request("DELETE", f"/{link['id']}")).status == 204

        await self.assert_dead(setups, link)
        actions = [row[3] for row in setups.team.world.audit_entries("organization.updated")]
        assert [one["setup_link"]["action"] for one in actions] == ["created", "revoked"]

    async def test_an_expired_link_is_dead_and_deleted_a_day_later(self, setups: DomainSetups, world: World) -> None:
        link = await setups.create()
        await setups.begin(link)
        day, database = timedelta(days=1), world.installation.database

        world.clock.advance(DAYS_BY_DEFAULT * day)
        await self.assert_dead(setups, link)
        early = await database.transact(housekeeping.sweep, Leftover.SETUP_LINKS, day, 10)
        world.clock.advance(day)

        assert early == 0
        assert await database.transact(housekeeping.sweep, Leftover.SETUP_LINKS, day, 10) == 1

    async def test_a_link_is_dead_when_its_maker_may_not_set_its_parts_any_more(
        self, setups: DomainSetups, world: World
    ) -> None:
        link = await setups.create(by="admin")
        await setups.begin(link)
        admin = setups.team.ids["admin"]

        world.connection.execute("UPDATE memberships SET role = 'member' WHERE user_id = %s", (admin,))
        await self.assert_dead(setups, link)
        world.connection.execute(
            "UPDATE memberships SET role = 'admin', suspended_at = now() WHERE user_id = %s", (admin,)
        )
        await self.assert_dead(setups, link)
        world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (admin,))
        await self.assert_dead(setups, link)

    @pytest.mark.parametrize("change", ["deactivated_at", "locked_at"])
    async def test_a_link_is_dead_while_its_maker_may_not_sign_in(
        self, setups: DomainSetups, world: World, change: str
    ) -> None:
        link = await setups.create("domain")
        await setups.begin(link)
        owner = setups.team.ids["owner"]

        world.connection.execute(f"UPDATE users SET {change} = now() WHERE id = %s".encode(), (owner,))

        await self.assert_dead(setups, link)

    async def test_a_link_is_dead_when_its_maker_may_set_only_one_of_its_parts(self, setups: DomainSetups) -> None:
        team = setups.team
        team.custom_role("both", "integrations.manage", "org.members.manage", "audit_logs.view")
        team.custom_role("one", "integrations.manage", "audit_logs.view")
        team.add("ida", "both")
        answer = await setups.request("POST", by="ida", body={"parts": ["scim", "siem"]})
        assert answer.status == 200, answer.text

        alive = await setups.visitor.open(path_of(answer.json))
        team.world.connection.execute("UPDATE memberships SET role = 'one' WHERE role = 'both'")
        dead = await setups.visitor.open(path_of(answer.json))

        assert (alive.status, dead.status) == (200, 404)

    async def test_a_link_opens_no_other_part(self, setups: DomainSetups, world: World) -> None:
        await setups.begin(await setups.create())
        world.connection.execute("UPDATE setup_links SET parts = '{siem}'")

        assert (await setups.visitor.open(DOMAIN_PAGE)).status == 404

    async def test_a_link_of_an_organization_that_is_not_active_is_dead(
        self, setups: DomainSetups, world: World
    ) -> None:
        link = await setups.create()
        await setups.begin(link)
        world.set_organization_status(setups.team.organization_id, "suspended")

        await self.assert_dead(setups, link)

    async def test_a_secret_that_was_never_given_out_opens_nothing(self, setups: DomainSetups) -> None:
        setups.visitor.cookies["gatehouse_setup"] = "a" * 43

        await self.assert_dead(setups, {"url": f"{BASE_URL}/app/setup/" + "a" * 43})
