"""What a server says when it is ready: its addresses, what it sells, and for a developer how to sign in."""

from __future__ import annotations

import socket
import sys

import structlog

from entrypoints import billing_settings, first_owner
from entrypoints.listeners import Listeners
from entrypoints.setting_kinds import Bind
from entrypoints.settings import Settings
from entrypoints.version import version

log = structlog.get_logger(__name__)


def announce(settings: Settings, listeners: Listeners, owner: str | None) -> None:
    """Report that a server is ready, and in development mode where it is and how its owner signs in."""
    places = {"bind": _place(listeners.public.listener)}
    if listeners.internal is not None:
        places["metrics_bind"] = _place(listeners.internal.listener)
    log.info("server.ready", address=settings.base_url, **places, version=version())
    _announce_sales(settings)
    # The rest is for a developer at a terminal.
    if not settings.dev or settings.log_format != "console":
        return
    base = settings.base_url
    metrics = f"http://{places['metrics_bind']}" if "metrics_bind" in places else base
    lines = [
        "",
        f"  Reference   {base}/docs",
        f"  Mailbox     {base}/dev/mailbox",
        f"  Metrics     {metrics}/metrics",
    ]
    if owner is not None:
        is_given = settings.owner_password is not None
        password = "as in GATEHOUSE_OWNER_PASSWORD" if is_given else first_owner.development_password(settings).reveal()
        lines += [f"  Owner       {owner}", f"  Password    {password}"]
    if not settings.auto_approve:
        lines += ["  Approval    new organizations wait for it; GATEHOUSE_AUTO_APPROVE=on opens them at once"]
    # The address is the last line, where a developer looks for it.
    lines += ["", "  Stop with Ctrl-C.", "", f"  Gatehouse is ready at {base}"]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _place(listener: socket.socket) -> str:
    """Return where a socket listens; for port 0, the port that the system has chosen."""
    host, port = listener.getsockname()[:2]
    return str(Bind(host, port))


def _announce_sales(settings: Settings) -> None:
    """Report that plans are sold without money, or not at all; in development mode the sandbox is expected."""
    if settings.has_billing_provider or settings.dev:
        return
    if settings.has_billing_sandbox:
        log.warning("billing.sandbox", advice=billing_settings.SANDBOX_ADVICE)
    else:
        log.info("billing.nothing_for_sale", advice=billing_settings.NOTHING_FOR_SALE_ADVICE)
