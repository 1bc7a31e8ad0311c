"""`gatehouse users show|unlock|end-sessions`: helping a user without the server, each with what to do next."""

from __future__ import annotations

from collections.abc import Callable

from core.platform import commands
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator.user_record_text import record_lines
from entrypoints.operator.acting import database_for
from entrypoints.operator.operations import with_installation
from entrypoints.operator.terminal import printable
from entrypoints.settings import Settings

Report = Callable[[str], None]


def show(settings: Settings, email: str, *, report: Report) -> None:
    """Print the stored data of an account that help its user, without secrets."""

    async def run(connected: ConnectedInstallation) -> None:
        # Limits are counted under a keyed hash of the address.
        await connected.load_secrets()
        record = await database_for(connected, "users show").transact(commands.open_record, email)
        for line in record_lines(record, connected.installation.clock()):
            report(line)

    with_installation(settings, run)


def unlock(settings: Settings, email: str, *, report: Report) -> None:
    """Lift the limits of an address on failed sign-ins and on mails."""

    async def run(connected: ConnectedInstallation) -> None:
        await connected.load_secrets()
        done = await database_for(connected, "users unlock").transact(commands.unlock, email)
        if not done.has_account:
            report(f"No account has the address {printable(done.email)}.")
        if not done.lifted.failed_sign_ins and not done.lifted.mail_counts:
            report(f"Nothing limited {printable(done.email)}.")
            report(f"Why sign-ins are refused: `gatehouse users show {printable(done.email)}`.")
            return
        report(
            f"Limits lifted for {printable(done.email)}. Failed sign-ins that no longer count:"
            f" {done.lifted.failed_sign_ins}; counts of mails: {done.lifted.mail_counts}."
        )
        report("Next: let the user sign in, or request a mail again. A limit of a network ends by itself in a minute.")

    with_installation(settings, run)


def end_sessions(settings: Settings, email: str, *, report: Report) -> None:
    """End all sessions of an account, with effect from the next request."""

    async def run(connected: ConnectedInstallation) -> None:
        await connected.load_secrets()
        ended = await database_for(connected, "users end-sessions").transact(commands.end_sessions, email)
        report(f"Sessions ended: {ended}. Sign-ins that were not complete have ended as well.")
        report(
            "Next: the user signs in again. If another person knows the password, let the user choose a new one with"
            " 'forgot password'; passkeys and linked accounts stay, and the user can remove them."
        )

    with_installation(settings, run)
