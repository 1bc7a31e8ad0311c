"""`gatehouse users show|unlock|end-sessions`: helping a user without the server, each with what to do next.

Names, devices and answers of mail servers come from others, so that each is shown on one line of printable characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from core.credentials import user_agents
from core.mail.mail import MailState
from core.platform import commands
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator.acting import database_for
from entrypoints.operator.operations import with_installation
from entrypoints.operator.terminal import printable
from entrypoints.settings import Settings

if TYPE_CHECKING:
    from core.accounts.sign_in_failures import AddressLimits
    from core.platform.mails import OutboxMail
    from core.platform.user_records import RecordedAccount, RecordedSession, RecordedWays, UserRecord
    from core.sign_in.sign_ins import SignIn

Report = Callable[[str], None]

_LABEL_COLUMNS: Final = 16
_LISTED_MAX: Final = 10
_UNDELIVERED: Final = frozenset({MailState.QUEUED, MailState.ROUTED, MailState.FAILED})


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


def record_lines(record: UserRecord, now: datetime) -> Iterator[str]:
    """Yield the lines of a record; the last ones say what to do next."""
    user = record.user
    yield printable(user.email)
    yield _row("id", str(user.id))
    if user.name:
        yield _row("name", printable(user.name))
    yield _row("account", _state(user))
    yield _row("address", _address(user))
    roles = [name for name, has in (("owner", user.is_platform_owner), ("support", user.is_platform_support)) if has]
    if roles:
        yield _row("platform", ", ".join(roles))
    yield _row(
        "signs in by",
        "; ".join(_ways(record.sign_in_methods))
        or "no password, no passkey and no other account: a mailed link is left",
    )
    yield _row("limits", _limits(record.limits))
    organizations = ", ".join(f"{one.slug} ({printable(one.role)})" for one in record.organizations)
    yield _row("organizations", organizations or "none")
    yield from _section("sessions", record.sessions_total, [_session(one) for one in record.sessions])
    yield from _section("sign-ins", record.sign_ins_total, [_sign_in(one) for one in record.sign_ins])
    yield from _section("mails", record.mails_total, [mail_line(one) for one in record.mails])
    yield ""
    yield from _next_steps(record, now)


def moment(at: datetime) -> str:
    """Return a time as commands print it."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def mail_line(mail: OutboxMail) -> str:
    """Return a mail in one line, without its content."""
    line = f"{mail.id}  {moment(mail.created_at)}  {mail.state.value:<6}  {mail.template.value}"
    if mail.attempts and mail.state in _UNDELIVERED:
        line += f", attempts: {mail.attempts}"
    if mail.state in {MailState.QUEUED, MailState.ROUTED}:
        line += f", due {moment(mail.due_at)}"
    if mail.last_error and mail.state is not MailState.SENT:
        line += f", {printable(mail.last_error)}"
    return line


def _row(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_COLUMNS}}{text}"


def _section(label: str, total: int, entries: Sequence[str]) -> Iterator[str]:
    listed = entries[:_LISTED_MAX]
    yield _row(label, f"{total}, the newest {len(listed)}:" if total > len(listed) else str(total))
    yield from (f"    {entry}" for entry in listed)


def _state(user: RecordedAccount) -> str:
    created = f"created {moment(user.created_at)}"
    if user.deactivated_at is not None:
        return f"deactivated {moment(user.deactivated_at)}, {created}"
    if user.locked_at is not None:
        return f"locked {moment(user.locked_at)}, {created}"
    if user.closed_at is not None:
        return f"closed by its user {moment(user.closed_at)}, {created}"
    return f"active, {created}"


def _address(user: RecordedAccount) -> str:
    if user.disowned:
        return "taken back by the organization of its domain: no link is mailed to it"
    return "verified" if user.email_verified else "not verified"


def _ways(ways: RecordedWays) -> Iterator[str]:
    if ways.has_password:
        yield "password"
    for passkey in ways.passkeys:
        yield f"passkey {printable(passkey.name)}{', a second factor' if passkey.second_factor else ''}"
    for identity in ways.identities:
        yield f"{identity.provider} {printable(identity.email or '')}".rstrip()
    if ways.mfa_enabled:
        yield f"second factor, backup codes left: {ways.backup_codes_remaining}"


def _limits(limits: AddressLimits) -> str:
    parts = [f"failed sign-ins in 15 minutes: {limits.failures}"]
    if limits.blocked_until is not None:
        parts.append(f"refused everywhere until {moment(limits.blocked_until)}")
    parts += [
        f"refused from {network.network} until {moment(network.blocked_until)}"
        for network in limits.networks
        if network.blocked_until is not None
    ]
    return ", ".join(parts)


def _session(session: RecordedSession) -> str:
    place = "/".join(printable(one.slug) for one in (session.organization, session.service) if one is not None)
    parts = [
        moment(session.last_used_at),
        session.provider,
        session.ip_address or "",
        printable(str(user_agents.describe(session.user_agent).name)),
        place,
        "a platform owner who acts as the user" if session.is_impersonation else "",
    ]
    return "  ".join(part for part in parts if part)


def _sign_in(sign_in: SignIn) -> str:
    where = "/".join(printable(one.slug) for one in (sign_in.organization, sign_in.service) if one is not None)
    parts = [moment(sign_in.created_at), sign_in.outcome.value, sign_in.provider, sign_in.ip_address or "", where]
    if sign_in.reason_text:
        parts.append(printable(sign_in.reason_text))
    if sign_in.request_id:
        parts.append(f"request {printable(sign_in.request_id)}")
    return "  ".join(part for part in parts if part)


def _next_steps(record: UserRecord, now: datetime) -> Iterator[str]:
    user, email = record.user, printable(record.user.email)
    blocked = [record.limits.blocked_until, *(network.blocked_until for network in record.limits.networks)]
    steps: list[str] = []
    if user.deactivated_at is not None:
        steps.append("The account was deactivated deliberately: the platform's audit log may say who did it.")
    if any(until is not None and until > now for until in blocked):
        steps.append(f"Too many sign-ins failed. To lift the limit: `gatehouse users unlock {email}`.")
    if not user.email_verified and user.deactivated_at is None:
        steps.append("The address is not verified. Let the user request a link to sign in, which verifies it.")
    failed = next((mail for mail in record.mails if mail.state is MailState.FAILED), None)
    if failed is not None:
        steps.append(f"A mail was not delivered. To send it again: `gatehouse mail retry {failed.id}`.")
    if record.sessions_total:
        steps.append(f"If the account is in other hands: `gatehouse users end-sessions {email}`.")
    yield from (f"Next: {step}" for step in steps or ["nothing here keeps the user from signing in."])
