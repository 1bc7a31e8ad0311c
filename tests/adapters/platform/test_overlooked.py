"""What waits in the logs without a mark beside them: it is found in turn, and put right once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.vault import Vault
from core.audit import chain
from core.ids import PLATFORM
from core.platform import overlooked
from core.platform.overlooked import FIRST_TURN, Kind, LongWaiting
from core.webhooks import sequencing
from tests.adapters.webhooks.queues import Sender, publish_all
from tests.clock import SettableClock
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]


@pytest.fixture
def sender(builder: Builder, transact: Transact, vault: Vault) -> Sender:
    return Sender(builder, transact, vault)


def add_entry(builder: Builder, organization_id: UUID) -> None:
    """Insert an audit entry that waits to be sealed."""
    builder.connection.execute(
        """
        INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details, created_at)
        VALUES (%s, %s, 'user.joined', 'user', 'x', true, '{}', %s)
        """,
        (new_id(), organization_id, builder.clock()),
    )


def add_mail(builder: Builder, organization_id: UUID, state: str) -> None:
    """Insert a mail that is due."""
    builder.connection.execute(
        """
        INSERT INTO mails (id, organization_id, recipient, template, values_sealed, state, attempts, due_at, created_at)
        VALUES (%(id)s, %(organization_id)s, 'a@example.org', 'test', '', %(state)s, 0, %(now)s, %(now)s)
        """,
        {"id": new_id(), "organization_id": organization_id, "state": state, "now": builder.clock()},
    )


def of_kind(found: Sequence[LongWaiting], kind: Kind) -> list[UUID]:
    return [one.organization_id for one in found if one.kind is kind]


def test_entries_and_events_without_a_mark_are_found_and_their_organizations_marked(
    sender: Sender, builder: Builder, transact: Transact, clock: SettableClock
) -> None:
    acme, globex = builder.organization("acme"), builder.organization("globex")
    for organization_id in (acme, globex, globex):
        add_entry(builder, organization_id)
        transact(publish_all, organization_id, "a")
    builder.connection.execute(
        "UPDATE log_dues SET entries = organization_id <> %(acme)s, events = organization_id = %(acme)s", {"acme": acme}
    )
    assert transact(overlooked.find, FIRST_TURN) == []
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)

    found = transact(overlooked.find, FIRST_TURN)

    assert sorted(of_kind(found, Kind.ENTRIES)) == sorted([acme, globex, globex])
    assert sorted(of_kind(found, Kind.EVENTS)) == sorted([acme, globex, globex])
    # One has lost the mark of its entries, the other the mark of its events.
    assert (transact(overlooked.put_right, found), transact(overlooked.put_right, found)) == (2, 0)
    assert transact(chain.seal_next, 10) == 3
    assert transact(sequencing.assign_positions, 10).events == 3


def test_entries_without_a_mark_are_sealed_when_they_were_found(
    builder: Builder, transact: Transact, clock: SettableClock
) -> None:
    acme = builder.organization("acme")
    add_entry(builder, acme)
    builder.connection.execute("UPDATE log_dues SET entries = false")
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)
    assert transact(chain.seal_next, 10) == 0

    transact(overlooked.put_right, transact(overlooked.find, FIRST_TURN))

    assert builder.rows("SELECT organization_id FROM log_dues WHERE entries") == [(acme,)]
    assert transact(chain.seal_next, 10) == 1


def test_webhooks_whose_deliveries_are_due_and_that_are_not_due_themselves_become_due(
    sender: Sender, builder: Builder, transact: Transact, clock: SettableClock
) -> None:
    acme, globex = builder.organization("acme"), builder.organization("globex")
    hook, on_time = sender.webhook(acme), sender.webhook(globex, "on time")
    for organization_id in (acme, globex):
        sender.publish(organization_id, "a")
    builder.connection.execute("UPDATE webhook_queues SET due_at = NULL WHERE webhook_id = %s", (hook,))
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)

    found = transact(overlooked.find, FIRST_TURN)

    assert {(one.organization_id, one.turn_id) for one in found if one.kind is Kind.DELIVERIES} == {
        (acme, hook),
        (globex, on_time),
    }
    assert (transact(overlooked.put_right, found), transact(overlooked.put_right, found)) == (1, 0)
    assert {leased.id for leased in sender.lease()} == {hook, on_time}


@pytest.mark.parametrize("is_of_platform", [True, False])
def test_mails_without_a_mark_are_found_and_due(
    builder: Builder, transact: Transact, clock: SettableClock, is_of_platform: bool
) -> None:
    organization_id = PLATFORM if is_of_platform else builder.organization()
    add_mail(builder, organization_id, "queued")
    add_mail(builder, organization_id, "routed")
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)

    found = transact(overlooked.find, FIRST_TURN)

    assert of_kind(found, Kind.QUEUED_MAILS) == of_kind(found, Kind.ROUTED_MAILS) == [organization_id]
    assert (transact(overlooked.put_right, found), transact(overlooked.put_right, found)) == (1, 0)
    assert builder.rows("SELECT organization_id, queued_at, routed_at FROM mail_dues") == [
        (organization_id, clock.now, clock.now)
    ]


def test_an_organization_whose_mails_are_looked_at_in_some_seconds_is_left_alone(
    builder: Builder, transact: Transact, clock: SettableClock
) -> None:
    organization_id = builder.organization()
    add_mail(builder, organization_id, "routed")
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)
    builder.connection.execute(
        "INSERT INTO mail_dues (organization_id, routed_at) VALUES (%s, %s)",
        (organization_id, clock.now + timedelta(seconds=9)),
    )

    found = transact(overlooked.find, FIRST_TURN)

    assert of_kind(found, Kind.ROUTED_MAILS) == [organization_id]
    assert transact(overlooked.put_right, found) == 0


def test_what_is_of_an_organization_that_was_deleted_meanwhile_is_left_alone(transact: Transact) -> None:
    gone = new_id()
    found = [LongWaiting(kind=kind, organization_id=gone, turn_id=gone) for kind in Kind]

    assert transact(overlooked.put_right, found) == 0


def test_what_waits_is_looked_at_in_turn_and_then_from_the_beginning(
    sender: Sender, builder: Builder, transact: Transact, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.platform.overlooked.ROWS_MAX", 1)
    organizations = sorted(builder.organization(slug) for slug in ("acme", "globex"))
    hooks = dict(sorted((sender.webhook(organization_id), organization_id) for organization_id in organizations))
    for organization_id in organizations:
        sender.publish(organization_id, "a")
    for organization_id in organizations:
        transact(publish_all, organization_id, "b")
        add_entry(builder, organization_id)
        add_mail(builder, organization_id, "queued")
        add_mail(builder, organization_id, "routed")
    clock.advance(2 * overlooked.OVERLOOKED_AFTER)
    turn, seen = FIRST_TURN, list[Sequence[LongWaiting]]()

    for _ in range(4):
        seen.append(transact(overlooked.find, turn))
        turn = overlooked.next_turn(seen[-1])

    one_by_one = [[organizations[0]], [organizations[1]], [], [organizations[0]]]
    for kind in set(Kind) - {Kind.DELIVERIES}:
        assert [of_kind(found, kind) for found in seen] == one_by_one, kind
    first, second = hooks.values()
    assert [of_kind(found, Kind.DELIVERIES) for found in seen] == [[first], [second], [], [first]]
