"""The plots of the platform, and the lists behind their bars."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from core.audit.sign_in_counts import SETTLES_AFTER, count_next
from core.ids import first_id_at
from tests.pages.plot_links import links_of
from tests.world.callers import Callers
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/platform"


def write(world: World, user_id: Any, organization_id: Any, *, number: int, reason: str | None = None) -> None:
    """Insert a sign-in of yesterday."""
    at = world.clock() - 24 * SETTLES_AFTER
    world.connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, reason, ip_address, risk_score,
                                  risk_factors, created_at)
        VALUES (%s, %s, %s, 'passkey', %s, %s, '192.0.2.77', 0, '{}', %s)
        """,
        (UUID(int=first_id_at(at).int + number), user_id, organization_id or user_id, reason is None, reason, at),
    )


async def test_bars_lead_to_the_sign_ins_of_all_and_support_is_told_nothing_of_owners(
    world: World, callers: Callers, platform_owner: Visitor, support: Visitor, transact: Callable[..., Any]
) -> None:
    world.connection.execute("DELETE FROM login_events")
    boss = world.user("boss@example.com", is_platform_owner=True)
    ann = world.user("ann.of.plots@example.com")
    write(world, boss, None, number=1)
    write(world, ann, callers.acme_id, number=2)
    write(world, ann, None, number=3, reason="wrong_password")
    transact(count_next, 10)

    page = (await platform_owner.open(PAGE)).text
    found = {label: href for label, href in links_of(page).items() if re.search("/(sign-ins|active-users)", href)}
    assert {"2 February 2026, Succeeded: 2", "2 February 2026, Refused: 1", "In thirty days: 2", "Passkey: 2"} <= (
        found.keys()
    )
    for label, href in found.items():
        number = int(label.rpartition(": ")[2])
        listed = (await platform_owner.open(href)).text
        assert ("One found" if number == 1 else f"{number} found") in listed, (label, href)
    every, of_support = [(await reader.open(f"{PAGE}/sign-ins")).text for reader in (platform_owner, support)]
    assert "boss@example.com" in every
    assert "boss@example.com" not in of_support
    assert (every.count("192.0.2.77"), of_support.count("192.0.2.77")) == (3, 2)
    assert "A platform owner" in of_support
    assert "ann.of.plots@example.com" in of_support
    active = (await support.open(f"{PAGE}/active-users?days=7")).text
    assert "boss@example.com" not in active
    assert "ann.of.plots@example.com" in active
    # Older windows are not known any more, so the page shows the newest one.
    assert "to 3 February 2026" in (await support.open(f"{PAGE}/active-users?days=30&day=2026-01-20")).text


async def test_the_sign_ins_of_a_person_are_found_and_what_support_asks_is_recorded(
    world: World, platform_owner: Visitor, support: Visitor
) -> None:
    world.connection.execute("DELETE FROM login_events")
    boss, ann = world.user("boss@example.com", is_platform_owner=True), world.user("ann.of.plots@example.com")
    write(world, boss, None, number=1)
    write(world, ann, None, number=2)
    write(world, ann, None, number=3, reason="wrong_password")

    counts = {
        name: [
            (await reader.open(f"{PAGE}/sign-ins?person={name}@example.com")).text.count("192.0.2.77")
            for reader in (platform_owner, support)
        ]
        for name in ("boss", "ann.of.plots", "unknown")
    }

    assert counts == {"boss": [1, 0], "ann.of.plots": [2, 2], "unknown": [0, 0]}
    assert len(world.platform_audit_entries("user.opened")) == 1
    file = (await support.open(f"{PAGE}/sign-ins/sign-ins.csv?person=ann.of.plots@example.com")).text
    assert len(file.splitlines()) == 3
    assert "192.0.2.77" in file
    assert len(world.platform_audit_entries("user.opened")) == 2
