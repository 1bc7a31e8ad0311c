"""`gatehouse billing`: the sandbox from the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.billing import sandbox
from core.billing.provider import CheckoutOrder
from core.billing.provider_customers import CustomerCreation
from tests.processes import CommandsHere, commands, commands_here
from tests.world.builder import Builder

__all__ = ["commands", "commands_here"]


@pytest.fixture
def subscription_id(builder: Builder, transact: Callable[..., Any]) -> str:
    """A subscription of the sandbox."""
    creation = CustomerCreation(organization_id=builder.organization(), name="Acme", idempotency_key="key")
    order = CheckoutOrder(
        customer_id=transact(sandbox.create_customer, creation),
        price_id="price_pro",
        success_url="https://app.example.com/thanks",
        cancel_url="https://app.example.com/prices",
        metadata={},
        service_name="Shop",
        plan_name="Pro",
        price_cents=1900,
        currency="usd",
    )
    session = transact(sandbox.open_checkout, order, base_url="", key="key")
    return transact(sandbox.pay, session.session_id).subscription_id


def waiting(builder: Builder) -> int:
    """Return how many events wait to be sent."""
    return builder.value("SELECT count(*) FROM sandbox_deliveries")


def test_the_subscriptions_of_the_sandbox_are_listed(commands_here: CommandsHere, subscription_id: str) -> None:
    listed = commands_here.run("billing", "list")

    assert listed.returncode == 0
    assert listed.stdout.startswith(f"{subscription_id}  active")
    assert "Shop: Pro" in listed.stdout


def test_an_empty_sandbox_says_what_to_do(commands_here: CommandsHere) -> None:
    assert "Start a checkout" in commands_here.run("billing", "list").stdout


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("renew", "active"),
        ("fail", "past_due"),
        ("recover", "active"),
        ("authenticate", "active"),
        ("cancel", "canceled"),
    ],
)
def test_an_action_changes_the_subscription_and_queues_its_events(
    commands_here: CommandsHere, builder: Builder, subscription_id: str, action: str, status: str
) -> None:
    before = waiting(builder)

    done = commands_here.run("billing", action, subscription_id)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == [subscription_id, status]
    assert waiting(builder) > before


def test_events_are_sent_twice_and_late_if_told_so(
    commands_here: CommandsHere, builder: Builder, subscription_id: str
) -> None:
    before = waiting(builder)

    commands_here.run("billing", "fail", subscription_id, "--twice", "--late", "3600")

    assert waiting(builder) - before == 4
    assert builder.value("SELECT count(*) FROM sandbox_deliveries WHERE due_at > created_at + interval '59 min'") == 4


@pytest.mark.parametrize("arguments", [("renew",), ("renew", "sub_sandbox_nothing")])
def test_without_a_subscription_the_command_says_how_to_find_one(
    commands_here: CommandsHere, arguments: tuple[str, ...]
) -> None:
    refused = commands_here.run("billing", *arguments)

    assert refused.returncode == 1
    assert "gatehouse billing list" in refused.stderr


def test_with_a_payment_provider_there_is_no_sandbox(commands_here: CommandsHere) -> None:
    keys = {"BILLING_SECRET_KEY": "sk_live_12345678", "BILLING_WEBHOOK_SECRET": "whsec_12345678"}

    for arguments in (("list",), ("renew", "sub_sandbox_1")):
        refused = commands_here.run("billing", *arguments, **keys)

        assert refused.returncode == 1
        assert "there is no sandbox" in refused.stderr


def test_with_a_payment_provider_the_pages_of_the_sandbox_are_no_routes(commands_here: CommandsHere) -> None:
    keys = {"BILLING_SECRET_KEY": "sk_live_12345678", "BILLING_WEBHOOK_SECRET": "whsec_12345678"}

    assert "/sandbox/" in commands_here.run("routes").stdout
    assert "/sandbox/" not in commands_here.run("routes", **keys).stdout


def test_the_doctor_lists_what_a_closed_sandbox_has_sold(commands_here: CommandsHere, subscription_id: str) -> None:
    closed, opened = commands_here.run("doctor"), commands_here.run("doctor", BILLING_SANDBOX="on")

    assert closed.returncode == 1
    assert f"NOT OK  sandbox             subscriptions that are not paid go on: {subscription_id}\n" in closed.stdout
    assert subscription_id not in opened.stdout

    commands_here.run("billing", "cancel", subscription_id)

    assert subscription_id not in commands_here.run("doctor").stdout
