"""Which events are handed on in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from core.webhooks.sequencing import WaitingEvent, batch_of

OCCURRED_AT = datetime(2026, 2, 3, tzinfo=UTC)


def waiting(*queues: tuple[int, int], is_old: bool = False) -> list[WaitingEvent]:
    """Return events of organizations: how many each has, and how many webhooks."""
    return [
        WaitingEvent(
            id=UUID(int=1000 * organization + number),
            organization_id=UUID(int=organization),
            type="user.invited",
            occurred_at=OCCURRED_AT,
            last_position=0,
            is_old=is_old,
            webhooks=webhooks,
        )
        for organization, (events, webhooks) in enumerate(queues, start=1)
        for number in range(events)
    ]


def counts(batch: Sequence[WaitingEvent]) -> dict[int, int]:
    """Return how many events of each organization there are."""
    found: dict[int, int] = {}
    for event in batch:
        found[event.organization_id.int] = found.get(event.organization_id.int, 0) + 1
    return found


def test_a_batch_has_at_most_so_many_deliveries() -> None:
    assert counts(batch_of(waiting((500, 50)), 400)) == {1: 8}


def test_an_event_without_webhooks_is_one_row() -> None:
    assert counts(batch_of(waiting((500, 0)), 400)) == {1: 400}


def test_an_event_with_more_webhooks_than_a_batch_has_rows_is_handed_on_alone() -> None:
    assert counts(batch_of(waiting((3, 50), (3, 1)), 20)) == {1: 1}


def test_a_flood_takes_nothing_from_an_organization_with_a_single_event() -> None:
    assert counts(batch_of(waiting((3000, 50), (1, 1)), 400)) == {1: 7, 2: 1}


def test_rows_are_divided_evenly_whatever_the_number_of_webhooks() -> None:
    assert counts(batch_of(waiting((300, 10), (300, 1)), 200)) == {1: 10, 2: 100}


def test_old_events_of_an_organization_delay_no_new_ones() -> None:
    old = waiting((100, 1), is_old=True)
    new = waiting((2, 1))

    assert [event.is_old for event in batch_of([*new, *old], 4)] == [False, True, False, True]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50)), max_size=6),
    st.integers(1, 500),
)
def test_every_batch_is_bounded_and_takes_the_first_events_of_each_organization(
    queues: list[tuple[int, int]], rows_max: int
) -> None:
    events = waiting(*queues)

    batch = list(batch_of(events, rows_max))

    assert len(batch) <= 1 or sum(event.rows for event in batch) <= rows_max
    assert bool(batch) == bool(events)
    for organization, taken in counts(batch).items():
        mine = [event for event in events if event.organization_id.int == organization]
        assert [event for event in batch if event.organization_id.int == organization] == mine[:taken]
