"""Mails to buyers: the end of a trial, and a payment that only they can complete.

A mail is queued once for each event: at once, or when the buyer of the subscription becomes known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.billing.histories import HistoryEntry
from core.billing.provider import SubscriptionBinding
from core.billing.provider_events import Effect
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_TEMPLATES: Final = PartialTable(
    {
        Effect.TRIAL_ENDING: MailTemplate.TRIAL_ENDING,
        Effect.ACTION_REQUIRED: MailTemplate.PAYMENT_ACTION_REQUIRED,
    }
)
# These events cause a mail.
NOTICES: Final = tuple(_TEMPLATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buyer:
    """The recipient, and the names in the mail."""

    email: str
    service_name: str
    organization_name: str


def send(
    uow: UnitOfWork, entries: Sequence[HistoryEntry], binding: SubscriptionBinding, *, invoice_url: str | None
) -> None:
    """Queue the mails that are due for these events of a subscription."""
    due = [(entry, template) for entry in entries if (template := _TEMPLATES.get(entry.effect)) is not None]
    if not due:
        return
    uow.billing_events.mark_noticed([entry.event_id for entry, _ in due])
    buyer = uow.billing_subscriptions.buyer(binding)
    if buyer is None:
        return
    for _, template in due:
        mail.send(
            uow,
            buyer.email,
            template,
            organization_id=binding.organization_id,
            service=buyer.service_name,
            organization=buyer.organization_name,
            link=invoice_url or "",
        )
