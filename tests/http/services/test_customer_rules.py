"""Which customers may use a service, with which roles, and whether individuals may too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from core.services.services import DESCRIPTION_CHARACTERS_MAX, ROLES_MAX
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import Answer, serving
from tests.world.team import Team
from tests.world.trade import Trade, insert_trade
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from collections.abc import Mapping

EDITOR = {"name": "editor", "title": "Editor", "description": "Writes.", "scopes": []}
VIEWER = {"name": "viewer", "title": "Viewer", "description": "", "scopes": []}


@pytest.fixture
def shop(team: Team) -> Team:
    """An organization with a service."""
    team.world.service(team.organization_id)
    return team


@pytest.fixture
def trade(world: World) -> Trade:
    """A vendor with a service for customers, and another organization."""
    return insert_trade(world)


async def send_change(team: Team, **fields: Any) -> Answer:
    """Change the service."""
    return await team.request("owner", "PATCH", "/services/shop", body=fields)


async def changed(team: Team, **fields: Any) -> dict[str, Any]:
    """Change the service, and return it."""
    answer = await send_change(team, **fields)
    assert answer.status == 200, answer.text
    return answer.json


def rules_of(service: dict[str, Any]) -> tuple[str, str]:
    """Return which people may use a service: with a customer, and without one."""
    return service["customers"], service["individuals"]


def role_ids(team: Team) -> dict[str, str]:
    """Return the ids of the roles of the service."""
    return team.world.value("SELECT role_ids FROM services WHERE slug = 'shop'")


def problems_of(answer: Answer) -> list[str]:
    """Return the fields that a refusal names."""
    assert_refused(answer, 400, "BAD_REQUEST")
    return [one["field"] for one in answer.json["details"]]


class TestPolicy:
    async def test_individuals_follow_the_customers_where_nothing_is_said(self, shop: Team) -> None:
        assert rules_of(await changed(shop, customers="listed")) == ("listed", "others")
        assert rules_of(await changed(shop, individuals="none")) == ("listed", "none")
        # They stay while the service has customers, whichever.
        assert rules_of(await changed(shop, customers="any")) == ("any", "none")
        assert problems_of(await send_change(shop, customers="none")) == ["access"]
        assert rules_of(await changed(shop, customers="none", access="members")) == ("none", "all")
        assert rules_of(await changed(shop, customers="any", individuals="all")) == ("any", "all")
        assert rules_of(await changed(shop, name="Shop 2")) == ("any", "all")

    async def test_a_new_service_takes_the_same_defaults(self, team: Team) -> None:
        for slug, given, rules in (
            ("one-1", {}, ("none", "all")),
            ("two-2", {"customers": "listed"}, ("listed", "others")),
            ("three-3", {"customers": "any", "individuals": "none"}, ("any", "none")),
        ):
            body = {"slug": slug, "name": "App", "service_type": "web", **given}
            created = await team.request("owner", "POST", "/services", body=body)
            assert created.status == 200, created.text
            assert rules_of(created.json["service"]) == rules

    async def test_individuals_of_a_service_without_customers_are_all(self, shop: Team) -> None:
        for individuals in ("none", "others"):
            assert problems_of(await send_change(shop, individuals=individuals)) == ["individuals"]
        assert problems_of(await send_change(shop, customers="some")) == ["customers"]

    async def test_customers_are_set_outside_development_mode_too(self, shop: Team, installation: Installation) -> None:
        client = serving(replace(installation, settings=Settings(rate_limits=False)))

        async def send(**fields: Any) -> Answer:
            token = await shop.token("owner")
            return await client.request("PATCH", f"{shop.path}/services/shop", token=token, body=fields)

        for customers in ("listed", "any"):
            assert (await send(customers=customers)).status == 200
        assert (await send(roles=[EDITOR])).status == 200
        assert (await send(customers="none")).status == 200

    async def test_what_narrows_the_individuals_lets_them_be_checked_again(self, trade: Trade) -> None:
        trade.rechecks()

        await changed(trade.vendor, individuals="none")

        assert trade.rechecks() == {None}

    async def test_customers_do_not_go_while_one_is_active_or_paused(self, trade: Trade) -> None:
        customer_id = await trade.begin()

        for is_paused in (False, True):
            await trade.at_vendor("PATCH", f"/{customer_id}", body={"paused": is_paused})
            assert_refused(await send_change(trade.vendor, customers="none"), 409, "CONFLICT")
            assert_refused(await trade.vendor.request("owner", "DELETE", "/services/shop"), 409, "CONFLICT")
        assert rules_of(await changed(trade.vendor, customers="any")) == ("any", "others")
        await trade.at_vendor("DELETE", f"/{customer_id}")
        assert rules_of(await changed(trade.vendor, customers="none")) == ("none", "all")

    async def test_open_offers_end_with_the_customers_and_with_the_service(self, trade: Trade) -> None:
        await trade.offer()
        await changed(trade.vendor, customers="none")
        await changed(trade.vendor, customers="listed")

        assert (await trade.at_vendor("GET")).json["total"] == 0
        assert_refused(await trade.send_acceptance(), 404, "NOT_FOUND")
        await trade.offer()
        assert (await trade.vendor.request("owner", "DELETE", "/services/shop")).status == 204
        assert trade.world.rows("SELECT FROM service_customers") == []


class TestRoles:
    async def test_roles_are_shown_as_they_were_sent(self, shop: Team) -> None:
        service = await changed(shop, roles=[EDITOR, {"name": "viewer", "title": "Viewer"}])

        assert service["roles"] == [EDITOR, VIEWER]
        assert (await shop.request("owner", "GET", "/services/shop")).json["roles"] == [EDITOR, VIEWER]
        [listed] = (await shop.request("owner", "GET", "/services")).json["services"]
        assert listed["roles"] == [EDITOR, VIEWER]

    async def test_a_role_keeps_its_id_as_long_as_its_name_stays(self, shop: Team) -> None:
        await changed(shop, roles=[EDITOR, VIEWER])
        before = role_ids(shop)

        await changed(shop, name="Shop 2")
        await changed(shop, roles=[VIEWER | {"title": "Reader"}, EDITOR])
        assert role_ids(shop) == before
        await changed(shop, roles=[VIEWER])
        assert role_ids(shop) == {"viewer": before["viewer"]}
        await changed(shop, roles=[EDITOR, VIEWER])
        again = role_ids(shop)
        assert again["viewer"] == before["viewer"]
        assert again["editor"] != before["editor"]
        await changed(shop, roles=[])
        assert role_ids(shop) == {}

    async def test_roles_of_a_new_service_have_ids(self, shop: Team) -> None:
        body = {"slug": "blog", "name": "Blog", "service_type": "web", "roles": [EDITOR]}

        assert (await shop.request("owner", "POST", "/services", body=body)).status == 200

        ids = shop.world.value("SELECT role_ids FROM services WHERE slug = 'blog'")
        assert list(ids) == ["editor"]

    async def test_what_is_no_role_is_refused(self, shop: Team) -> None:
        long = "x" * (DESCRIPTION_CHARACTERS_MAX + 1)
        wrong: list[list[Mapping[str, object]]] = [
            *([{"name": name, "title": "Title"}] for name in ("", "Editor", "a b", "x" * 51, "ä", "a\n")),
            [{"name": "editor", "title": " "}],
            [{"name": "editor", "title": "x" * 101}],
            [EDITOR, EDITOR],
            [EDITOR | {"description": long}],
            [{"name": f"role-{number}", "title": "Title"} for number in range(ROLES_MAX + 1)],
        ]

        for roles in wrong:
            assert problems_of(await send_change(shop, roles=roles)) == ["roles"], roles
        assert role_ids(shop) == {}

    async def test_the_roles_of_a_service_are_recorded_before_and_after(self, shop: Team) -> None:
        await changed(shop, roles=[VIEWER])
        await changed(shop, roles=[EDITOR])

        entries = [details["changes"] for *_, details in shop.world.audit_entries("service.updated")]
        assert entries == [
            {"roles": {"from": [], "to": [VIEWER]}},
            {"roles": {"from": [VIEWER], "to": [EDITOR]}},
        ]


async def test_the_page_that_begins_a_sign_in_is_one_of_the_web(shop: Team) -> None:
    service = await changed(shop, initiate_login_uri="https://shop.example/login")

    assert service["initiate_login_uri"] == "https://shop.example/login"
    for wrong in ("shop", "javascript:alert(1)", "http://shop.example/login"):
        assert problems_of(await send_change(shop, initiate_login_uri=wrong)) == ["initiate_login_uri"], wrong
    assert (await changed(shop, initiate_login_uri=None))["initiate_login_uri"] is None
