"""While impersonating, an organization's pages close each control whose effect would last, and say why."""

from __future__ import annotations

import pytest

from tests.pages.platform.conftest import browser_of
from tests.world.callers import ACME, Caller, Callers, insert_callers
from tests.world.domains import insert_verified
from tests.world.visitor import Visitor
from tests.world.world import World

HOME = f"/app/organizations/{ACME}"
REASON = "This is closed while you act as another person, because it would outlast that."
LESS = "you can only take rights away here"
REDIRECT_URI = "https://shop.example/callback"


@pytest.fixture
async def callers(world: World) -> Callers:
    """A platform owner impersonates the owner of acme."""
    made = insert_callers(world)
    world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (made.people[Caller.OWNER],))
    world.connection.execute(
        "UPDATE memberships SET role = 'owner' WHERE user_id = %s", (made.people[Caller.IMPERSONATED],)
    )
    service = world.service(made.acme_id, "shop", redirect_uris=[REDIRECT_URI])
    world.grant(made.acme_id, service.id, made.people[Caller.INTERN], "manager")
    world.custom_role(made.acme_id, "helpdesk", "end_users.view", "audit_logs.view")
    for email, role in (("one@example.org", "member"), ("two@example.org", "admin")):
        body = {"email": email, "role": role}
        headers = made.credentials(Caller.ADMIN)
        assert (
            await world.client.post(f"/api/organizations/{ACME}/invitations", body=body, headers=headers)
        ).status == 200
    return made


@pytest.fixture
def acting(callers: Callers) -> Visitor:
    """The browser of a platform owner who acts as the owner."""
    visitor = Visitor(callers.world.client)
    for pair in callers.cookie(Caller.IMPERSONATED)["Cookie"].split("; "):
        name, _, secret = pair.partition("=")
        visitor.cookies[name] = secret
    return visitor


async def test_what_is_closed_has_no_form_and_no_link_and_says_why(callers: Callers, acting: Visitor) -> None:
    insert_verified(callers.world, callers.acme_id, "acme.example")
    closed = {
        "/settings": ("Transfer the ownership", "/settings/deletion"),
        "/domain": ("Give this domain up", f"{HOME}/domain/verify"),
        "/roles": ("Copy", f"{HOME}/roles?copy="),
        "/services/shop/options": ("Change where it leads", "/services/shop/deletion"),
        "/services/shop": ("Add a redirect URI", f'action="{HOME}/services/shop/redirect-uris"'),
        "/services/shop/grants": ("Search", 'name="find"'),
        f"/services/shop/grants/{callers.people[Caller.MEMBER]}": ("Give access", 'name="relation"'),
    }

    for path, (control, absent) in closed.items():
        page = await acting.open(HOME + path)

        assert page.status == 200, path
        assert REASON in page.text, path
        assert control in page.text, path
        assert absent not in page.text, path


async def test_the_owner_themselves_sees_the_controls(callers: Callers) -> None:
    world = callers.world
    world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'owner'")
    world.connection.execute(
        "UPDATE memberships SET role = 'owner' WHERE user_id = %s", (callers.people[Caller.OWNER],)
    )
    owner = browser_of(callers, Caller.OWNER)

    for path in ("/settings", "/domain", "/roles", "/services/shop/options", "/services/shop", "/people/invited"):
        page = await owner.open(HOME + path)

        assert page.status == 200
        assert REASON not in page.text
        assert LESS not in page.text


async def test_only_plain_members_are_invited_and_only_their_invitations_sent_again(
    callers: Callers, acting: Visitor
) -> None:
    path = f"{HOME}/people/invited"
    page = await acting.open(path)

    assert "You can only invite plain members." in page.text
    assert '<option value="admin"' not in page.text
    assert page.text.count("/send-again") == 1
    refused = await acting.submit(page, path, emails="new@example.org", role="admin")
    assert refused.status == 403
    assert "outlast the impersonation" in refused.text
    invited = await acting.submit(page, path, emails="new@example.org", role="member")
    assert invited.status == 200
    assert callers.world.value("SELECT count(*) FROM invitations WHERE email = 'new@example.org'") == 1


async def test_a_redirect_uri_is_removed_and_none_is_added(callers: Callers, acting: Visitor) -> None:
    page = await acting.open(f"{HOME}/services/shop")

    removed = await acting.submit(page, f"{HOME}/services/shop/redirect-uris/remove", redirect_uri=REDIRECT_URI)

    assert removed.status == 200
    assert callers.world.value("SELECT redirect_uris FROM services WHERE slug = 'shop'") == []


async def test_the_name_of_a_service_is_changed_and_the_rest_stays(callers: Callers, acting: Visitor) -> None:
    callers.world.connection.execute(
        "UPDATE services SET post_logout_redirect_uris = %s WHERE slug = 'shop'",
        (["https://shop.example/a", "https://shop.example/b"],),
    )
    path = f"{HOME}/services/shop/options"

    saved = await acting.submit(await acting.open(path), path, name="Shop of Acme")

    assert saved.status == 200
    [service] = callers.world.rows(
        "SELECT name, post_logout_redirect_uris, redirect_uris FROM services WHERE slug = 'shop'"
    )
    assert service == ("Shop of Acme", ["https://shop.example/a", "https://shop.example/b"], [REDIRECT_URI])


async def test_roles_are_lowered_and_not_raised(callers: Callers, acting: Visitor) -> None:
    for caller, role, status in (
        (Caller.MEMBER, "admin", 403),
        (Caller.ADMIN, "helpdesk", 200),
        (Caller.ADMIN, "member", 200),
    ):
        path = f"{HOME}/people/{callers.people[caller]}"
        page = await acting.open(path)
        assert LESS in page.text

        assert (await acting.submit(page, path, role=role)).status == status, (caller, role)


async def test_a_grant_is_lowered_and_not_given(callers: Callers, acting: Visitor) -> None:
    path = f"{HOME}/services/shop/grants/{callers.people[Caller.INTERN]}"
    page = await acting.open(path)
    assert LESS in page.text

    assert (await acting.submit(page, path, relation="viewer")).status == 200
    assert 'name="relation"' not in (await acting.open(path)).text


async def test_no_job_that_invites_admins_begins(callers: Callers, acting: Visitor) -> None:
    path = f"{HOME}/people/invited"
    lines = "\n".join(f"p{number}@example.org" for number in range(120))

    refused = await acting.submit(await acting.open(path), path, emails=lines, role="admin")

    assert refused.status == 403
    assert callers.world.value("SELECT count(*) FROM bulk_jobs") == 0
