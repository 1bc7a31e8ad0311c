"""The state of a subscription from its events, in whatever order and however often they arrived (ops/decisions/0019).

The state is computed from the set of stored events, so the order of their arrival does not matter: the newest whole
subscription counts, then the invoices after it. An end is final, however late an older event arrives. Two events of one
second have no order; then the subscription has to be read from the provider, and until then a fixed order decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from core.billing.provider import Facts
from core.billing.provider_events import Effect
from core.lazy_dataclasses import dataclass
from core.services.subscriptions import LIVE, SubscriptionStatus
from core.tables import PartialTable

# The provider never revives a subscription in one of these states.
_FINAL: Final = frozenset(SubscriptionStatus) - LIVE
_INVOICES: Final = PartialTable(
    {Effect.PAID: SubscriptionStatus.ACTIVE, Effect.PAYMENT_FAILED: SubscriptionStatus.PAST_DUE}
)
# The order of two events of one second, the later one last.
_ORDER: Final = (Effect.SESSION, Effect.SNAPSHOT, Effect.PAYMENT_FAILED, Effect.PAID, Effect.ENDED)
# The effects of the events in a history.
HISTORICAL: Final = frozenset(_ORDER)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A stored event of a subscription; `is_read` marks a reading of the subscription from the provider."""

    event_id: str
    occurred_at: datetime
    effect: Effect
    facts: Facts
    is_read: bool = False

    @property
    def status(self) -> SubscriptionStatus | None:
        """The status in the event."""
        if self.effect is Effect.ENDED and self.facts.status not in _FINAL:
            return SubscriptionStatus.CANCELLED
        return _INVOICES.get(self.effect, self.facts.status)

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow it."""
        return self.status in _FINAL

    @property
    def order(self) -> tuple[datetime, bool, int, str]:
        """Its place in the history."""
        return self.occurred_at, self.is_read, _ORDER.index(self.effect), self.event_id


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state after a history; `price_id` is None when no event names a price."""

    status: SubscriptionStatus
    price_id: str | None
    period_end: datetime | None
    # Whether events of one second leave the state open.
    is_ambiguous: bool = False


def state_of(entries: Iterable[HistoryEntry], *, is_customer_deleted: bool = False) -> State | None:
    """Return the state after the entries; None when none of them shows that the subscription exists."""
    history = sorted(entries, key=lambda entry: entry.order)
    base = _base(history)
    if base is None or base.status is None:
        return None
    state = State(status=base.status, price_id=base.facts.price_id, period_end=base.facts.period_end)
    if base.is_final:
        return state
    for entry in history:
        if entry.order > base.order and entry.effect in _INVOICES:
            state = _after_invoice(state, entry)
    if is_customer_deleted:
        state = replace(state, status=SubscriptionStatus.CANCELLED)
    return replace(state, is_ambiguous=_is_ambiguous(history, base))


def _base(history: Sequence[HistoryEntry]) -> HistoryEntry | None:
    """Return the entry that others build upon: the end, else the newest whole subscription, else the checkout."""
    ends = [entry for entry in history if entry.is_final]
    snapshots = [entry for entry in history if entry.effect is Effect.SNAPSHOT]
    sessions = [entry for entry in history if entry.effect is Effect.SESSION]
    return next((found[-1] for found in (ends, snapshots, sessions) if found), None)


def _after_invoice(state: State, invoice: HistoryEntry) -> State:
    if invoice.effect is Effect.PAYMENT_FAILED:
        return replace(state, status=SubscriptionStatus.PAST_DUE)
    ends = [end for end in (state.period_end, invoice.facts.period_end) if end is not None]
    return replace(state, status=SubscriptionStatus.ACTIVE, period_end=max(ends, default=None))


def _is_ambiguous(history: Sequence[HistoryEntry], base: HistoryEntry) -> bool:
    """Return whether two events of one second count, and the subscription was not read since."""
    since = [
        entry.occurred_at
        for entry in history
        if entry.occurred_at >= base.occurred_at and entry.effect is not Effect.SESSION and not entry.is_read
    ]
    tied = [at for at, times in Counter(since).items() if times > 1]
    return bool(tied) and not (base.is_read and base.occurred_at >= max(tied))
