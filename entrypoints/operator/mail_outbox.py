"""`gatehouse mail list|retry`: the outbox without the contents of its mails, and sending some of them again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from core.errors import BadRequest, Conflict
from core.platform import commands, mails
from core.platform.mails import COUNTED_MAX, NOT_SENT, ListedMailState, MailUnknown, OutboxPage
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator.acting import database_for
from entrypoints.operator.operations import with_installation
from entrypoints.operator.terminal import printable
from entrypoints.operator.user_help import mail_line
from entrypoints.progress import Progress
from entrypoints.settings import Settings

Report = Callable[[str], None]


COMMAND: Final = "mail retry"
ALL: Final = "all"
_MEANINGS: Final = {
    ListedMailState.FAILED: "given up",
    ListedMailState.QUEUED: "waiting for the platform's mail server",
    ListedMailState.ROUTED: "waiting for the mail servers of organizations",
    ListedMailState.KEPT: "kept, because no mail server was set",
    ListedMailState.SENT: "taken by a mail server",
}


def list_mails(settings: Settings, state: str | None, email: str | None, limit: int, *, report: Report) -> None:
    """Print the newest mails of a state, or of each state in which a mail has not left."""
    states = [ListedMailState(state)] if state is not None else NOT_SENT

    async def run(connected: ConnectedInstallation) -> None:
        database = database_for(connected, "mail list")
        found = await database.read(commands.outbox, states, email, limit)
        for one, page in found.items():
            report(f"{one.value}: {_number(page.total)} ({_MEANINGS[one]})")
            for mail in page.mails:
                report(f"  {mail_line(mail)}, to {printable(mail.recipient)}")
            if page.total > len(page.mails):
                report(f"  The newest {len(page.mails)} are listed; --limit lists more.")
        report("")
        report(_next_step(settings, found))

    with_installation(settings, run)


def retry(settings: Settings, names: Sequence[str], *, report: Report) -> int:
    """Let the mails with these ids be sent at once, or all that have not left; return 0 when each will be, else 1."""
    is_all = list(names) == [ALL]
    ids = [] if is_all else [_id_of(name) for name in names]
    refused = 0

    async def run(connected: ConnectedInstallation) -> None:
        nonlocal refused
        database, due = database_for(connected, COMMAND), list(ids)
        if is_all:
            due = [mail.id for mail in await database.read(commands.retriable)]
        with Progress(sys.stderr) as progress:
            say = progress.around(report)
            for done, mail_id in enumerate(due):
                try:
                    mail = await database.transact(mails.send_again, mail_id)
                    if not is_all:
                        say(f"{mail_line(mail)}, to {printable(mail.recipient)}")
                except (Conflict, MailUnknown) as refusal:
                    refused += 1
                    say(f"{mail_id}  not retried: {refusal}")
                progress.show(done + 1, "mails", total=len(due))
        if len(due) == commands.RETRIED_MAX:
            report(f"More than {len(due):,} have not left. Run the command again for the others.")
        report(f"Mails that are due now: {len(due) - refused:,}. Not retried: {refused:,}.")
        if len(due) > refused:
            report(_after_retry(settings))

    with_installation(settings, run)
    # Of all mails, some are too old to be retried; that is no failure.
    return 1 if refused and not is_all else 0


def _id_of(name: str) -> UUID:
    try:
        return UUID(name)
    except ValueError:
        raise BadRequest(f"{printable(name)} is no id of a mail. `gatehouse mail list` shows the ids.") from None


def _number(total: int) -> str:
    return f"more than {COUNTED_MAX:,}" if total > COUNTED_MAX else f"{total:,}"


def _next_step(settings: Settings, found: Mapping[ListedMailState, OutboxPage]) -> str:
    def has(*states: ListedMailState) -> bool:
        return any(state in found and found[state].total for state in states)

    if settings.smtp_url is None and has(*NOT_SENT):
        return "Next: no mail server is set, so no mail leaves. Set GATEHOUSE_SMTP_URL, and restart the server."
    if has(ListedMailState.FAILED, ListedMailState.QUEUED, ListedMailState.ROUTED):
        return (
            "Next: `gatehouse doctor --mail-to ADDRESS` tests the mail server. Then `gatehouse mail retry ID` sends one"
            f" mail at once, and `gatehouse mail retry {ALL}` all that have not left."
        )
    return "Next: nothing. No mail waits."


def _after_retry(settings: Settings) -> str:
    if settings.smtp_url is None:
        return "Next: no mail server is set, so the server will keep them. Set GATEHOUSE_SMTP_URL, and restart it."
    return "Next: a running server sends them within some seconds. `gatehouse mail list` shows what is left."
