"""Who may sign in to a service, in the console: the question of a new one, its tab, and assignments one by one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.organizations.choices import CHOICES_MAX
from tests.pages.platform.conftest import browser_of
from tests.pages.services.shop import CONSOLE, shop_of
from tests.shown_text import shows
from tests.world.builder import Service
from tests.world.callers import Caller, insert_callers
from tests.world.directory import insert_directory
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

NEW = f"{CONSOLE}/new"
ACCESS = f"{CONSOLE}/shop/access"
ASSIGNMENTS = f"{ACCESS}/assignments"
REMOVAL = f"{ASSIGNMENTS}/remove"


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, a member, and a manager of services who does not see members."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    team.custom_role("shopkeeper", "services.manage")
    team.add("dora", "shopkeeper")
    return team


@pytest.fixture
def shop(world: World, people: Team) -> Service:
    """A service of the organization."""
    return shop_of(world, people)


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def browser(people: Team, name: str) -> Visitor:
    """Sign another person in, and return the browser."""
    visitor = Visitor(people.world.client)
    await visitor.sign_in(f"{name}@example.com")
    return visitor


async def add_roles(people: Team, *names: str) -> None:
    """Give the service roles of its own."""
    roles = [{"name": name, "title": name.title()} for name in names]
    assert (await people.request("ann", "PATCH", "/services/shop", body={"roles": roles})).status == 200


async def record(people: Team) -> dict[str, Any]:
    """Return the service, as programs read it."""
    return (await people.request("ann", "GET", "/services/shop")).json


def chosen(text: str) -> list[str]:
    """Return which answers to the question are chosen."""
    return re.findall(r'name="access" type="radio" value="(\w+)"[^>]* checked', text)


class TestNewService:
    @pytest.mark.parametrize("kind", ["web", "spa"])
    @pytest.mark.parametrize("access", ["everyone", "members", "assigned"])
    async def test_who_may_sign_in_is_asked(self, people: Team, ann: Visitor, kind: str, access: str) -> None:
        form = await ann.open(f"{NEW}?kind={kind}")

        created = await ann.submit(form, NEW, name="Shop", slug="shop", access=access)

        assert "Members of Acme" in form.text
        assert chosen(form.text) == []
        assert "The service is created." in created.text
        assert (await record(people))["access"] == access
        # The next page asks for the people; one with a new secret comes first.
        assert (f'href="{ACCESS}">Choose people' in created.text) is (access == "assigned")

    async def test_without_an_answer_nothing_is_created(self, world: World, ann: Visitor) -> None:
        form = await ann.open(f"{NEW}?kind=web")

        for access in ("", "none"):
            refused = await ann.submit(form, NEW, name="Shop", slug="shop", access=access)

            assert refused.status == 400, access
            assert "Choose who may sign in." in refused.text, access
            assert 'value="Shop"' in refused.text, access
        assert world.rows("SELECT id FROM services") == []

    async def test_an_answer_stays_when_something_else_is_wrong(self, ann: Visitor) -> None:
        form = await ann.open(f"{NEW}?kind=web")

        refused = await ann.submit(form, NEW, name="Shop", slug="no slug", access="members")

        assert refused.status == 400
        assert chosen(refused.text) == ["members"]

    async def test_a_program_without_a_user_is_not_asked_about(self, people: Team, ann: Visitor) -> None:
        form = await ann.open(f"{NEW}?kind=api")

        created = await ann.submit(form, NEW, name="Shop", slug="shop")

        assert 'name="access"' not in form.text
        assert "The service is created." in created.text
        assert (await record(people))["access"] == "everyone"


class TestAccess:
    async def test_who_may_sign_in_is_changed(self, people: Team, shop: Service, ann: Visitor) -> None:
        page = await ann.follow(await ann.open(f"{CONSOLE}/shop"), ACCESS)

        saved = await ann.submit(page, ACCESS, access="assigned")
        refused = await ann.submit(saved, ACCESS, access="none")
        old = await ann.submit(page, ACCESS, {"seen_version": "old"}, access="members")

        assert chosen(page.text) == ["everyone"]
        assert "There is no assignment yet: members sign in without a role of the service." in page.text
        assert "It is saved who may sign in." in saved.text
        assert chosen(saved.text) == ["assigned"]
        assert "There is no assignment yet, so no member may sign in." in saved.text
        assert (refused.status, old.status) == (400, 409)
        assert "Choose who may sign in." in refused.text
        assert "This service has been changed meanwhile." in old.text
        assert (await record(people))["access"] == "assigned"

    async def test_for_a_service_with_customers_the_other_setting_is_named(
        self, world: World, people: Team, shop: Service, ann: Visitor
    ) -> None:
        without = await ann.open(ACCESS)
        world.serve_customers(shop)

        page = await ann.open(ACCESS)

        assert "people who come for no customer" not in without.text
        assert "people who come for no customer" in page.text

    async def test_members_read_it_and_change_nothing(self, people: Team, shop: Service, ann: Visitor) -> None:
        await ann.submit(await ann.open(ACCESS), ASSIGNMENTS, {"subject": "everyone"})
        await ann.submit(await ann.open(ACCESS), ACCESS, access="members")
        cid = await browser(people, "cid")

        page, settings = await cid.open(ACCESS), await cid.open(f"{CONSOLE}/shop/options")

        assert "Members of Acme" in page.text
        assert ">Every active member<" in page.text
        assert "services.manage" in page.text
        assert f'action="{ACCESS}' not in page.text
        assert re.search(r"Who may sign in</dt>\s*<dd>Members of Acme<", settings.text)
        [token] = set(re.findall(r'name="form_token" value="([^"]+)"', page.text))
        for path in (ACCESS, ASSIGNMENTS, REMOVAL):
            assert (await cid.post(path, {"form_token": token, "subject": "everyone"})).status == 403, path

    async def test_another_tenant_finds_no_such_service(self, world: World, people: Team, shop: Service) -> None:
        other = world.team("beta")
        other.add("eve", "owner")
        eve = await browser(other, "eve")
        token = re.findall(r'name="form_token" value="([^"]+)"', (await eve.open("/app/organizations/beta")).text)[0]
        own = ACCESS.replace("acme", "beta")

        assert (await eve.open(own)).status == 404
        assert (await eve.open(ACCESS)).status == 403
        for path in ("", "/assignments", "/assignments/remove"):
            sent = {"form_token": token, "access": "members", "subject": "everyone"}
            assert (await eve.post(own + path, sent)).status == 404, path
            assert (await eve.post(ACCESS + path, sent)).status == 403, path


class TestAssignments:
    async def test_a_service_is_assigned_one_by_one_to_what_is_chosen(
        self, world: World, people: Team, shop: Service, ann: Visitor
    ) -> None:
        await add_roles(people, "editor", "viewer")
        directory = insert_directory(people, groups="directory")
        group = (await directory.request("POST", "/Groups", {"displayName": "Readers"})).json["id"]
        page = await ann.open(ACCESS)
        subjects = {
            f"user:{people.ids['cid']}": ("cid@example.com", "cid@example.com", "editor"),
            f"group:{group}": ("Readers", "Group Readers", ""),
            "role:shopkeeper": ("shopkeeper", "Role shopkeeper", "viewer"),
            "everyone": ("Every active member", "Every active member", ""),
        }

        for subject, (name, shown, role) in subjects.items():
            assert f'<option value="{subject}">{name}</option>' in page.text
            page = await ann.submit(page, ASSIGNMENTS, {"subject": subject} | ({"roles": role} if role else {}))
            assert "The assignment is saved." in page.text, subject
            assert f">{shown}<" in page.text
        assert (await record(people))["assignments"] == [
            {"subject": subject, "roles": [role] if role else []} for subject, (_, _, role) in subjects.items()
        ]

        again = await ann.submit(page, ASSIGNMENTS, {"subject": "role:shopkeeper"})
        removed = await ann.submit(again, REMOVAL, {"subject": "everyone"})
        twice = await ann.submit(again, REMOVAL, {"subject": "everyone"})

        for answer in (removed, twice):
            assert "The assignment is removed." in answer.text
        left = {one["subject"]: one["roles"] for one in (await record(people))["assignments"]}
        assert left == {
            f"user:{people.ids['cid']}": ["editor"],
            f"group:{group}": [],
            "role:shopkeeper": [],
        }
        entries = world.audit_entries("service.access_changed", "details")
        assert len(entries) == len(subjects) + 2
        assert (entries[-1][0]["added"], entries[-1][0]["removed"]) == ([], [{"subject": "everyone", "roles": []}])

    async def test_what_no_assignment_can_name_is_shown_again(
        self, world: World, people: Team, shop: Service, ann: Visitor
    ) -> None:
        page = await ann.open(ACCESS)
        stranger = world.user("stranger@example.com")

        for fields, text in (
            ({"subject": f"user:{stranger}"}, "is no role or group of your organization, and no active member"),
            ({"subject": "everyone", "roles": "owner"}, "The service has no role owner."),
            ({}, "Choose who gets it."),
        ):
            shown = await ann.submit(page, ASSIGNMENTS, fields)
            assert shown.status == 400, fields
            assert text in shown.text, fields
            assert '<select id="subject" name="subject" required aria-describedby="subject-problem"' in shown.text
        assert (await record(people))["assignments"] == []

    async def test_without_roles_the_page_says_where_they_are_made(
        self, people: Team, shop: Service, ann: Visitor
    ) -> None:
        page = await ann.open(ACCESS)
        settings = await ann.open(f"{CONSOLE}/shop/customers/settings")

        assert "The service has no roles yet. Add them in the settings for customers." in page.text
        assert f'href="{CONSOLE}/shop/customers/settings#roles"' in page.text
        assert "You assign them to your own people under" in settings.text

    async def test_of_many_members_a_search_finds_some(self, people: Team, shop: Service, ann: Visitor) -> None:
        await add_roles(people, "editor")
        for number in range(CHOICES_MAX):
            people.add(f"person-{number:02}", "member")

        found = await ann.open(f"{ACCESS}?find_subject=PERSON-1&roles=editor")
        again = await ann.submit(found, ASSIGNMENTS, {"subject": "", "find_subject": "person-12"})

        assert found.text.count('type="radio" value="user:') == 10
        assert 'type="checkbox" value="editor" checked' in found.text
        assert again.status == 400
        assert again.text.count('type="radio" value="user:') == 1

    async def test_who_sees_no_members_changes_access_alone(self, people: Team, shop: Service, ann: Visitor) -> None:
        await ann.submit(await ann.open(ACCESS), ASSIGNMENTS, {"subject": f"user:{people.ids['cid']}"})
        before = (await record(people))["assignments"]
        dora = await browser(people, "dora")

        page = await dora.open(f"{ACCESS}?find_subject=cid")
        changed = await dora.submit(page, ACCESS, access="members")
        token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]

        assert "You cannot see the assignments of the service" in page.text
        assert "org.members.view" in page.text
        assert not shows(page.text, "cid@example.com")
        assert "It is saved who may sign in." in changed.text
        for path in (ASSIGNMENTS, REMOVAL):
            for subject in ("everyone", f"user:{people.ids['cid']}"):
                sent = await dora.post(path, {"form_token": token, "subject": subject})
                assert sent.status == 403, (path, subject)
        assert (await record(people))["assignments"] == before

    async def test_who_manages_this_service_by_a_grant_assigns_it(
        self, people: Team, shop: Service, ann: Visitor
    ) -> None:
        path = f"/services/shop/grants/{people.ids['cid']}"
        assert (await people.request("ann", "PUT", path, body={"relation": "manager"})).status == 200
        cid = await browser(people, "cid")

        saved = await cid.submit(await cid.open(ACCESS), ASSIGNMENTS, {"subject": "role:admin"})

        assert "The assignment is saved." in saved.text


async def test_an_impersonator_narrows_and_gives_nobody_more(world: World) -> None:
    callers = insert_callers(world)
    world.service(callers.acme_id)
    world.connection.execute(b"UPDATE services SET access = 'members'")
    acting = browser_of(callers, Caller.IMPERSONATED)

    page = await acting.open(ACCESS)
    token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]
    opened = await acting.submit(page, ACCESS, access="everyone")
    assigned = await acting.post(ASSIGNMENTS, {"form_token": token, "subject": "everyone"})
    narrowed = await acting.submit(page, ACCESS, access="assigned")

    assert "This is closed while you act as another person" in page.text
    assert f'action="{ASSIGNMENTS}"' not in page.text
    assert (opened.status, assigned.status) == (403, 403)
    assert "It is saved who may sign in." in narrowed.text
    assert world.rows("SELECT access FROM services WHERE slug = 'shop'") == [("assigned",)]
    assert world.rows("SELECT subject FROM service_assignments") == []


async def test_the_pages_speak_german(people: Team, shop: Service, ann: Visitor) -> None:
    page = await ann.switch(await ann.open(ACCESS), "de")

    assert "Wer sich anmelden darf" in page.text
    assert "Mitglieder von Acme" in (await ann.open(f"{NEW}?kind=web")).text
