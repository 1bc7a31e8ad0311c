"""Impersonating a user for a customer of a service: for which customer, who reads of it, and what ends it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio

from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, Service
from tests.world.platform import Platform
from tests.world.signing_in import Tokens, claims_of
from tests.world.team import Team
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}
HEAD = "head@example.com"
UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"


@pytest.fixture
def shop(world: World) -> Service:
    """A service of a vendor, which organizations use."""
    service = world.service(world.organization("vendor"), "shop")
    world.serve_customers(service, "editor")
    return service


@pytest.fixture
def globex(world: World, shop: Service) -> Team:
    """A customer of the service, with its owner and a member."""
    team = world.team("globex")
    team.add("head", "owner")
    world.member(team.organization_id, world.user(EMAIL))
    return team


@pytest.fixture
async def customer_id(world: World, shop: Service, globex: Team) -> UUID:
    """The customer, for which the member has signed in."""
    customer_id = world.customer(shop, globex.organization_id, external_id="crm-7")
    world.assign(customer_id, "everyone", "editor")
    signed_in = await world.log_in(EMAIL, **AT_SHOP, customer="globex")
    assert signed_in.status == 200, signed_in.text
    world.clock.advance(timedelta(minutes=1))
    return customer_id


async def _try(platform: Platform, **where: Any) -> Answer:
    user_id = platform.world.user_id(EMAIL)
    body = {"reason": "a question", **AT_SHOP, **where}
    return await platform.request("POST", f"/api/platform/impersonate/{user_id}", body)


async def _act(platform: Platform, customer: object) -> Tokens:
    return await platform.impersonate(platform.world.user_id(EMAIL), **AT_SHOP, customer=str(customer))


def _id_of(world: World, slug: str) -> UUID:
    return world.value("SELECT id FROM organizations WHERE slug = %s", slug)


def _logged(world: World, action: str) -> dict[str, tuple[Any, ...]]:
    """Return the entries of an action by the organization in whose log they are."""
    rows = world.rows(
        """
        SELECT o.slug, e.actor_user_id, e.target_id, e.ip_address, e.user_agent, e.details
        FROM   audit_entries e
        JOIN   organizations o ON o.id = e.organization_id
        WHERE  e.action = %s
        """,
        action,
    )
    return {slug: tuple(rest) for slug, *rest in rows}


@pytest.mark.parametrize("by_slug", [True, False])
async def test_the_tokens_are_those_of_the_user_for_the_customer(
    platform: Platform, world: World, customer_id: UUID, by_slug: bool
) -> None:
    acting = await _act(platform, "globex" if by_slug else customer_id)

    claims = acting.claims
    assert (claims["customer_id"], claims["customer"], claims["customer_role"]) == (
        str(customer_id),
        "globex",
        "member",
    )
    assert (claims["service_roles"], claims["customer_external_id"]) == (["editor"], "crm-7")
    assert claims["impersonator"] == str(platform.owner_id)
    assert {"role", "is_platform_owner", "is_platform_support"}.isdisjoint(claims)
    profile = await world.client.get("/api/user", token=acting.access_token)
    assert (profile.status, profile.json["customer_id"]) == (200, str(customer_id))


async def test_both_logs_have_it_with_the_platform_owner_and_events_do_not(
    platform: Platform, world: World, customer_id: UUID
) -> None:
    acting = await _act(platform, customer_id)

    user_id, session_id = str(world.user_id(EMAIL)), str(acting.session_id)
    common = {
        "user_id": user_id,
        "customer_id": str(customer_id),
        "impersonator_id": str(platform.owner_id),
        "impersonation_session": session_id,
        "expires_at": (world.clock() + timedelta(hours=1)).isoformat(),
    }
    logged = _logged(world, "user.impersonated")
    assert {slug: rest[:4] for slug, rest in logged.items()} == dict.fromkeys(
        ("vendor", "globex"), (None, user_id, None, None)
    )
    for *_, details in logged.values():
        assert common.items() <= details.items()
    assert logged["globex"][-1]["vendor_slug"] == "vendor"
    assert logged["vendor"][-1]["organization_slug"] == "globex"
    assert "external_id" not in logged["globex"][-1]
    slugs = dict(world.rows("SELECT id, slug FROM organizations"))
    events = world.events("user.impersonated")
    assert str(platform.owner_id) not in str(events)
    assert sorted((slugs[one], email) for one, email, _ in events) == [("globex", None), ("vendor", None)]
    [(_, _, noted)] = world.platform_audit_entries("impersonation.started")
    assert noted["customer_id"] == str(customer_id)


async def test_both_logs_have_the_platform_owner_who_pauses_a_product_as_a_person(
    platform: Platform, world: World, customer_id: UUID, shop: Service
) -> None:
    acting = await platform.impersonate(world.user_id(HEAD), org_slug="globex")

    answer = await world.client.request(
        "PATCH",
        f"/api/organizations/globex/products/{shop.client_id}",
        token=acting.access_token,
        body={"paused": True},
    )

    assert answer.status == 200, answer.text
    both = {"impersonator_id": str(platform.owner_id), "impersonation_session": str(acting.session_id)}
    for action, slug in (("product_access.paused", "globex"), ("customer.paused", "vendor")):
        [(found, (*_, details))] = _logged(world, action).items()
        assert found == slug
        assert both.items() <= details.items()


async def test_the_owner_of_the_customer_is_told_by_mail(platform: Platform, world: World, customer_id: UUID) -> None:
    await _act(platform, customer_id)

    mails = {one.template: one for one in await world.mails() if "IMPERSONATION" in one.template.name}
    assert mails[MailTemplate.IMPERSONATION_STARTED].to == EMAIL
    told = mails[MailTemplate.CUSTOMER_IMPERSONATION_STARTED]
    assert told.to == HEAD
    assert told.values == {
        "person": EMAIL,
        "service": "Shop",
        "vendor": "Vendor",
        "organization": "Globex",
        "slug": "globex",
        "at": "2026-02-03 04:06 UTC",
        "until": "2026-02-03 05:06 UTC",
    }


async def test_it_is_no_sign_in_and_confirms_nothing(platform: Platform, world: World, customer_id: UUID) -> None:
    state = """
        SELECT u.last_sign_in_at, c.last_sign_in_at, m.confirmed_at
        FROM   customer_users u
        JOIN   service_customers c ON c.id = u.customer_id
        JOIN   memberships m ON m.organization_id = c.organization_id AND m.user_id = u.user_id
    """
    world.clock.advance(timedelta(hours=2))
    before = world.rows(state)
    platform = Platform(world, platform.owner_id, await world.sign_in("owner@example.com"))

    acting = await _act(platform, customer_id)
    refreshed = await world.refresh(acting.refresh_token)

    assert refreshed.status == 200, refreshed.text
    assert world.rows(state) == before
    assert _logged(world, "user.joined") == {}
    signed_in = [data for _, email, data in world.events("user.login.success") if email == EMAIL]
    assert {data["customer_id"] for data in signed_in} == {str(customer_id)}
    assert len(signed_in) == 2, "one for each organization, of the user's own sign-in"


async def test_what_the_user_cannot_or_never_did_use_is_refused_alike(
    platform: Platform, world: World, shop: Service, customer_id: UUID
) -> None:
    user_id = world.user_id(EMAIL)
    ids: list[UUID | str] = [UNKNOWN, "nowhere", world.customer(shop, world.organization("foreign"))]
    closed: dict[str, dict[str, Any]] = {
        "new": {},
        "paused": {"paused_by": ["vendor"]},
        "closed": {"access": "assigned"},
    }
    for slug, settings in closed.items():
        organization_id = world.organization(slug)
        world.member(organization_id, user_id)
        ids.append(world.customer(shop, organization_id, **settings))
    other = world.organization("other")
    desk = world.service(other, "desk")
    world.link(other, desk.id, user_id)

    refused = {str(one): await _try(platform, customer=str(one)) for one in ids}
    refused["without"] = await _try(platform, org_slug="other", service_slug="desk", customer=str(customer_id))
    vendor_id = _id_of(world, "vendor")
    world.member(vendor_id, user_id)
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE organization_id = %s", (vendor_id,))
    refused["suspended"] = await _try(platform, customer=str(customer_id))

    for name, answer in refused.items():
        assert_refused(answer, 400, "BAD_REQUEST")
        assert [one["field"] for one in answer.json["details"]] == ["customer"], name
    assert len({str(answer.json["details"]) for answer in refused.values()}) == 1
    assert world.events("user.impersonated") == []
    assert MailTemplate.CUSTOMER_IMPERSONATION_STARTED not in {one.template for one in await world.mails()}


async def test_a_membership_that_is_unconfirmed_again_stays_so(
    platform: Platform, world: World, customer_id: UUID
) -> None:
    world.connection.execute("UPDATE memberships SET confirmed_at = NULL")

    refused = await _try(platform, customer=str(customer_id))

    assert_refused(refused, 400, "BAD_REQUEST")
    assert world.value("SELECT count(*) FROM memberships WHERE confirmed_at IS NOT NULL") == 0


async def test_a_customer_takes_its_service(platform: Platform, world: World, customer_id: UUID) -> None:
    answer = await _try(platform, service_slug=None, customer=str(customer_id))

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [one["field"] for one in answer.json["details"]] == ["service_slug"]


@pytest.mark.parametrize("individuals", ["none", "others", "all"])
async def test_without_a_customer_the_rule_of_individuals_holds(
    platform: Platform, world: World, shop: Service, customer_id: UUID, individuals: str
) -> None:
    world.connection.execute("UPDATE services SET individuals = %s", (individuals,))

    unused = await _try(platform)
    world.link(_id_of(world, "vendor"), shop.id, world.user_id(EMAIL))
    used = await _try(platform, customer="")

    assert_refused(unused, 400, "BAD_REQUEST")
    assert [one["field"] for one in unused.json["details"]] == ["customer"]
    assert "Name the customer" in unused.text
    if individuals == "all":
        assert "customer_id" not in claims_of(used.json["access_token"])
        assert world.events("user.impersonated") == []
    else:
        assert unused.json["details"] == used.json["details"]


async def test_support_and_others_cannot(platform: Platform, world: World, customer_id: UUID) -> None:
    user_id = world.user_id(EMAIL)
    head = await world.sign_in(HEAD)
    body = {"reason": "a question", **AT_SHOP, "customer": str(customer_id)}

    refused = await platform.request("POST", f"/api/platform/impersonate/{user_id}", body, by=head)

    assert_refused(refused, 403, "FORBIDDEN")
    assert world.events("user.impersonated") == []


@pytest.mark.parametrize("end", ["vendor", "customer", "membership", "ended", "suspended", "assigned"])
async def test_it_ends_with_the_customer_and_the_membership(
    platform: Platform, world: World, shop: Service, globex: Team, customer_id: UUID, end: str
) -> None:
    acting = await _act(platform, customer_id)
    user_id = world.user_id(EMAIL)

    match end:
        case "vendor" | "customer":
            world.connection.execute(f"UPDATE service_customers SET {end}_paused_at = now()".encode())
        case "membership":
            removed = await globex.request("head", "POST", f"/members/{user_id}")
            assert removed.status in {200, 204}, removed.text
        case "ended":
            ended = await globex.request("head", "DELETE", f"/products/{shop.client_id}")
            assert ended.status == 204, ended.text
        case "suspended":
            world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'globex'")
        case _:
            changed = await globex.request(
                *("head", "PATCH", f"/products/{shop.client_id}"), body={"access": "assigned", "assignments": []}
            )
            assert changed.status == 200, changed.text

    seen = await world.client.get("/api/user", token=acting.access_token)
    refreshed = await world.refresh(acting.refresh_token)
    assert seen.status in {401, 403}, seen.text
    assert refreshed.status in {401, 403}, refreshed.text


async def test_what_ends_the_sessions_of_a_person_there_ends_it_too(
    platform: Platform, world: World, globex: Team, customer_id: UUID
) -> None:
    acting = await _act(platform, customer_id)

    await globex.request("head", "POST", f"/members/{world.user_id(EMAIL)}")

    assert world.value("SELECT revoked_at IS NOT NULL FROM sessions WHERE id = %s", acting.session_id)


async def test_a_customer_that_ends_at_this_moment_is_refused(
    platform: Platform, world: World, customer_id: UUID
) -> None:
    answers = list[Answer]()

    async def act() -> None:
        answers.append(await _try(platform, customer=str(customer_id)))

    async with trio.open_nursery() as nursery:
        with world.connection.transaction():
            world.rows("SELECT FROM service_customers WHERE id = %s FOR UPDATE", customer_id)
            nursery.start_soon(act)
            await waiting_for_a_lock(world.connection)
            world.connection.execute("DELETE FROM service_customers WHERE id = %s", (customer_id,))

    [refused] = answers
    assert_refused(refused, 400, "BAD_REQUEST")
    assert "or it is not open to them now" in refused.text
    assert world.events("user.impersonated") == []
