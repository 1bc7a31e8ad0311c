"""What the setup of a customer waits for before its first sign-in."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from core.customers.setup_progress import MadeSoFar, SetupStep

NOTHING = MadeSoFar(
    customer_id=UUID(int=1),
    connections=0,
    tested=0,
    mail_domains=0,
    pending_domains=0,
    scim_tokens=0,
    calling=0,
    group_rules=0,
    setup_links=0,
    opened=0,
)


@pytest.mark.parametrize(
    ("made", "step"),
    [
        ({}, None),
        ({"group_rules": 1, "mail_domains": 1}, None),
        ({"setup_links": 1}, SetupStep.LINK_UNOPENED),
        ({"setup_links": 2, "opened": 1}, SetupStep.LINK_OPENED),
        ({"setup_links": 1, "scim_tokens": 1}, SetupStep.DIRECTORY),
        ({"scim_tokens": 2, "calling": 1}, SetupStep.SIGN_IN),
        ({"connections": 1, "scim_tokens": 1, "calling": 1}, SetupStep.TEST),
        ({"connections": 2, "tested": 1, "mail_domains": 2, "pending_domains": 1}, SetupStep.DOMAIN),
        ({"connections": 1, "tested": 1, "mail_domains": 1}, SetupStep.SIGN_IN),
    ],
)
def test_the_furthest_part_that_is_made_says_what_is_waited_for(made: dict[str, int], step: SetupStep | None) -> None:
    assert replace(NOTHING, **made).step is step
