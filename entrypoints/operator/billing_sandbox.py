"""`gatehouse billing`: lists the subscriptions of the sandbox provider, and makes things happen to them.

The events are queued; the running server sends them to its receiver.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from core.billing import sandbox
from core.billing.sandbox import LATE_MAX, Posting, SandboxAction
from core.billing.sandbox_events import SandboxSubscription
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator.operations import with_installation
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings

Report = Callable[[str], None]


LISTED_MAX: Final = 100


class NoSandbox(CannotStart):
    """A payment provider is connected, so there is no sandbox."""


def list_subscriptions(settings: Settings, *, report: Report) -> None:
    """List the newest subscriptions of the sandbox."""
    _require_sandbox(settings)

    async def run(connected: ConnectedInstallation) -> None:
        found = await connected.installation.database.read(sandbox.list_subscriptions, LISTED_MAX)
        if not found:
            report("Nothing was bought in the sandbox yet. Start a checkout and pay it.")
        for subscription in found:
            report(_line(subscription))

    with_installation(settings, run)


def act(
    settings: Settings, action: str, subscription_id: str | None, *, late_seconds: int, is_twice: bool, report: Report
) -> None:
    """Make something happen to a subscription."""
    _require_sandbox(settings)
    if subscription_id is None:
        raise CannotStart(f"Name the subscription: gatehouse billing {action} ID. `gatehouse billing list` lists them.")
    posting = Posting(late=min(timedelta(seconds=late_seconds), LATE_MAX), is_twice=is_twice)

    async def run(connected: ConnectedInstallation) -> None:
        changed = await connected.installation.database.transact(
            sandbox.act, subscription_id, SandboxAction(action), posting
        )
        report(_line(changed))
        report("The running server sends the events.")

    with_installation(settings, run)


def _line(subscription: SandboxSubscription) -> str:
    return (
        f"{subscription.id}  {subscription.status:<8}  until {subscription.current_period_end:%Y-%m-%d %H:%M} UTC"
        f"  {subscription.description}"
    )


def _require_sandbox(settings: Settings) -> None:
    if settings.has_billing_provider:
        raise NoSandbox("GATEHOUSE_BILLING_SECRET_KEY is set, so there is no sandbox. Use the provider's dashboard.")
