"""Answers that must be alike are alike to the byte, headers included; sign-ins and offers also in their statements.

No offer tells whether an organization exists, no acceptance whether a service does, and no sign-in whose customer a
person is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from uuid import UUID, uuid4

import pytest

from entrypoints.settings import Settings
from tests.application import Answer
from tests.statements import recorded_statements
from tests.world.builder import EMAIL
from tests.world.trade import Trade

# Ids and times, which each answer has of its own.
_OWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z")
_OWN_HEADERS = {"x-request-id", "date"}


@pytest.fixture
def settings() -> Settings:
    """Settings with rate limits, because some of them would tell."""
    return Settings(dev=True)


def _seen(answer: Answer, *typed: str) -> tuple[int, str, dict[str, str]]:
    """Return what a caller sees of an answer, apart from ids, times, and what the caller has typed."""
    text = answer.text
    for one in typed:
        text = text.replace(one, "typed")
    headers = {name.lower(): value for name, value in answer.headers.items() if name.lower() not in _OWN_HEADERS}
    return answer.status, _OWN.sub("own", text), headers | {"content-length": str(len(_OWN.sub("own", text)))}


def _require_alike(seen: Iterable[object]) -> None:
    first, *others = seen
    for other in others:
        assert other == first


async def test_an_offer_to_an_organization_and_one_to_none(trade: Trade) -> None:
    await trade.vendor.token("owner")
    seen = list[object]()
    for slug in ("beta", "void"):
        with recorded_statements() as statements:
            made = await trade.at_vendor("POST", body={"organization": slug})
        shown = await trade.at_vendor("GET", f"/{made.json['id']}")
        paused = await trade.at_vendor("PATCH", f"/{made.json['id']}", body={"paused": True})
        again = await trade.at_vendor("POST", body={"organization": slug})
        ended = await trade.at_vendor("DELETE", f"/{made.json['id']}")
        answers = (made, shown, paused, again, ended)
        seen.append((*(_seen(one, slug) for one in answers), list(statements)))

    _require_alike(seen)


async def test_an_acceptance_of_what_is_not_open(trade: Trade) -> None:
    vendor_id = trade.vendor.organization_id
    closed = trade.world.service(vendor_id, "closed")
    other = trade.world.organization("other")
    elsewhere = trade.world.service(other, "elsewhere")
    trade.world.customer(elsewhere, trade.world.organization("third"))

    answers = [
        await trade.send_acceptance(client_id=one)
        for one in (uuid4(), closed.client_id, trade.service.client_id, elsewhere.client_id)
    ]

    assert answers[0].status == 404
    _require_alike(_seen(one) for one in answers)


async def test_a_product_of_none_of_its_own(trade: Trade) -> None:
    closed = trade.world.service(trade.vendor.organization_id, "closed")
    trade.world.customer(trade.service, trade.world.organization("third"))

    for method, body in (("GET", None), ("PATCH", {"paused": True}), ("DELETE", None)):
        answers = [
            await trade.at_customer(method, f"/products/{client_id}", body=body)
            for client_id in (uuid4(), closed.client_id, trade.service.client_id)
        ]
        assert answers[0].status == 404
        _require_alike(_seen(one) for one in answers)


async def test_a_sign_in_for_a_customer_that_is_not_open(trade: Trade) -> None:
    user_id = trade.world.user(EMAIL)
    named = await _customers_that_are_not_open(trade, user_id)

    async def send(customer: str) -> Answer:
        return await trade.world.log_in(EMAIL, org_slug="acme", service_slug="shop", customer=customer)

    await send("warming-up")
    seen = list[object]()
    for customer in named:
        with recorded_statements() as statements:
            refused = await send(customer)
        assert refused.status == 403, customer
        seen.append((_seen(refused), list(statements)))

    _require_alike(seen)


async def test_a_wrong_password_for_a_customer(trade: Trade) -> None:
    user_id = trade.world.user(EMAIL)
    trade.world.member(trade.customer.organization_id, user_id)
    open_id = trade.world.customer(trade.service, trade.customer.organization_id)
    named = ["beta", str(open_id), *await _customers_that_are_not_open(trade, user_id)]

    answers = [
        await trade.world.log_in(address, "wrong", org_slug="acme", service_slug="shop", customer=customer)
        for customer in named
        for address in (EMAIL, "nobody@example.com")
    ]

    assert answers[0].status == 401
    _require_alike(_seen(one) for one in answers)


async def _customers_that_are_not_open(trade: Trade, user_id: UUID) -> list[str]:
    """Return an unknown, a foreign and a paused customer, and one that assigns others, each by slug and id."""
    found: list[str] = ["nowhere", str(uuid4())]
    closed: dict[str, dict[str, Any]] = {
        "foreign": {},
        "paused": {"paused_by": ["customer"]},
        "stopped": {"paused_by": ["vendor"]},
        "assigns": {"access": "assigned"},
    }
    for slug, settings in closed.items():
        organization_id = trade.world.organization(slug)
        if slug != "foreign":
            trade.world.member(organization_id, user_id)
        found += [slug, str(trade.world.customer(trade.service, organization_id, **settings))]
    offer_id = await trade.offer("third")
    return [*found, "third", offer_id]
