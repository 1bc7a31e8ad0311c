"""The checks of `gatehouse doctor` on the database, its content, and the work that waits there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

import trio

from core.accounts import user_import
from core.billing import sandbox
from core.email_addresses import canonical_email
from core.mail.mail import MailMessage, MailTemplate
from core.platform import doctor, health_figures, log_months, owners, system
from core.platform.late_work import LateWork
from core.platform.late_work import read as read_late_work
from core.secrets import Secret
from core.sessions.signing_keys import KeyState
from entrypoints import equipment, main, signing_key_pairs
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator import cluster_checks
from entrypoints.operator.dependency_checks import MAIL_ADVICE
from entrypoints.operator.terminal import printable
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks, late_work
from entrypoints.shared.platform.checks import Finding

if TYPE_CHECKING:
    from entrypoints.database import ReplicaReport
    from ports.unit_of_work import UnitOfWork

MAIL_SECONDS_MAX: Final = 30.0
LISTED_MAX: Final = 10
CREDENTIALS_LISTED_MAX: Final = 20
SALES_LISTED_MAX: Final = 100
REPLICAS_PAGE: Final = "ops/docs/database.md, Reading from replicas"


def listening(problem: str | None) -> Finding:
    """Check the address for notifications; `problem` is None when it works."""
    if problem is None:
        return Finding("notifications", True, "connected")
    advice = "Set GATEHOUSE_DATABASE_LISTEN_URL to the same database, by an address without a pooler."
    return Finding("notifications", False, problem, advice)


def addresses(accounts: Sequence[UUID]) -> Finding:
    """Check that every account has an address that mail is sent to."""
    if not accounts:
        return Finding("addresses", True, "every account has its address in the canonical form")
    listed = ", ".join(str(account) for account in accounts[:LISTED_MAX])
    what = f"addresses that no mail is sent to: {len(accounts)}; the accounts are {listed}"
    return Finding("addresses", False, what, "See ops/runbooks/mail.md, the section on addresses.")


def connections(changed: Sequence[UUID]) -> Iterator[Finding]:
    """Yield a finding when there are connections whose client secret may go to another issuer."""
    if changed:
        listed = ", ".join(str(one) for one in changed[:LISTED_MAX])
        what = f"with another issuer than before, and the client secret of before: {len(changed)}; they are {listed}"
        advice = "Ask their organizations to enter the client secret again, and to withdraw it at the issuer before."
        yield Finding("connections", False, what, advice)


def replicas(reports: Sequence[ReplicaReport]) -> Iterator[Finding]:
    """Yield a finding for each replica; one that cannot be used breaks nothing, because the primary is read instead."""
    for report in reports:
        if report.problem is not None:
            advice = f"It is not read from. See {REPLICAS_PAGE}."
            yield Finding("replica", False, f"{report.name}: {report.problem}", advice)
        elif report.lag_seconds is not None:
            what = f"{report.name}: behind the primary; what it has replayed last is {report.lag_seconds:.0f} s old"
            yield Finding("replica", False, what, f"Look at its log and its load. See {REPLICAS_PAGE}.")
        else:
            yield Finding("replica", True, f"{report.name}: follows the primary")


async def connected_findings(settings: Settings, address: Secret, mail_to: str | None) -> list[Finding]:
    """Check what the connected installation has stored and what waits there; send a test mail if one is wanted."""
    async with main.connected(settings, address) as connected:
        nodes = await connected.installation.database.read(system.measure)
        of_cluster = [] if nodes is None else list(cluster_checks.findings(nodes))
        if nodes is not None and nodes.down:
            # What reads all logs needs every node.
            return [await _clock(connected), *of_cluster]
        late = await connected.installation.database.read(
            read_late_work, connected.installation.billing.mode, settings.kept_for, settings.logs_kept_for
        )
        return [
            await _clock(connected),
            await _logs(connected, late),
            await _statistics(connected),
            *of_cluster,
            await _keys(connected),
            await _credentials(connected),
            *await _imported_passwords(connected),
            *await _sandbox_sales(connected),
            *await _names(connected),
            await _platform_owners(connected),
            *late_work.findings(late, settings),
            *([] if mail_to is None else [await _test_mail(connected, mail_to)]),
        ]


async def _clock(connected: ConnectedInstallation) -> Finding:
    before = connected.installation.machine_clock()
    database_time = await connected.installation.database.read(health_figures.database_time)
    return checks.clock(before, database_time, connected.installation.machine_clock())


async def _logs(connected: ConnectedInstallation, late: LateWork) -> Finding:
    strays = await connected.installation.database.read(log_months.with_strays)
    if not strays:
        if (missing := late_work.log_months(late)) is not None:
            return missing
        return Finding("logs", True, "every row is in the partition of its month")
    what = f"rows for which no month was made: {', '.join(one.value for one in strays)}"
    return Finding("logs", False, what, "See ops/runbooks/log-months.md.")


async def _statistics(connected: ConnectedInstallation) -> Finding:
    tables = await connected.installation.database.read(system.missing)
    if not tables:
        return Finding("statistics", True, "the planner of PostgreSQL knows every large table")
    listed = ", ".join(tables[:LISTED_MAX])
    what = f"large tables of which the planner of PostgreSQL knows nothing: {len(tables)}; {listed}"
    advice = "Statements may be slow or cancelled. Run ANALYZE as ops/runbooks/planner-statistics.md says."
    return Finding("statistics", False, what, advice)


async def _keys(connected: ConnectedInstallation) -> Finding:
    try:
        published = await signing_key_pairs.published(connected.installation)
    except CannotStart as refusal:
        return Finding("keys", False, str(refusal), "The server cannot start until this is solved.")
    active = [key for key in published if key.state is KeyState.ACTIVE]
    if not active:
        return Finding("keys", True, "none yet", "The first `gatehouse serve` makes them.")
    described = ", ".join(f"{key.kid} ({key.algorithm}, made on {key.created_at:%Y-%m-%d})" for key in active)
    return Finding("keys", True, f"active signing keys: {described}")


async def _credentials(connected: ConnectedInstallation) -> Finding:
    left = await connected.installation.database.read(doctor.without_right)
    if not left:
        return Finding("credentials", True, "every maker of one may do what it allows")
    listed = "; ".join(str(credential) for credential in left[:CREDENTIALS_LISTED_MAX])
    more = f"; and {len(left) - CREDENTIALS_LISTED_MAX} more" if len(left) > CREDENTIALS_LISTED_MAX else ""
    what = f"{len(left)} whose maker may not do any more what they allow; {listed}{more}"
    return Finding("credentials", True, what, "Ask the owner of each organization to replace or revoke them.")


async def _imported_passwords(connected: ConnectedInstallation) -> list[Finding]:
    counts = await connected.installation.database.read(user_import.count_kinds)
    refused = sum(count for decoy, count in counts if not equipment.is_comparable(decoy))
    if refused:
        what = f"{refused:,} accounts have a hash that cannot be compared, or is too expensive to"
        advice = "They cannot sign in with a password. Tell their users to choose a new one with 'forgot password'."
        return [Finding("imported passwords", False, what, advice)]
    if counts:
        what = f"{sum(count for _, count in counts):,} accounts have a hash of another kind than ours"
        advice = "Until their users have signed in, every refused sign-in does the work of all kinds."
        return [Finding("imported passwords", True, what, advice)]
    return []


async def _sandbox_sales(connected: ConnectedInstallation) -> list[Finding]:
    """Return a finding when a sandbox that is closed has subscriptions, which go on without being paid."""
    settings = connected.installation.settings
    if settings.has_billing_provider or settings.has_billing_sandbox:
        return []
    newest = await connected.installation.database.read(sandbox.list_subscriptions, SALES_LISTED_MAX)
    going_on = [subscription.id for subscription in newest if not subscription.has_ended]
    if not going_on:
        return []
    what = f"subscriptions that are not paid go on: {', '.join(going_on[:LISTED_MAX])}"
    advice = "`gatehouse billing list` shows what was bought, and `gatehouse billing cancel ID` ends one."
    return [Finding("sandbox", False, what, advice)]


async def _names(connected: ConnectedInstallation) -> list[Finding]:
    """Return a finding when there are names of services, plans or connections that would be refused today."""
    found = await connected.installation.database.read(doctor.breaking_the_rule)
    if not found:
        return []
    listed = ", ".join(one.place for one in found[:LISTED_MAX])
    what = f"names that mention an address of the web: {len(found)}; {listed}"
    advice = "Ask their organizations to rename them. They keep working, and mails say a neutral word instead."
    return [Finding("names", False, what, advice)]


async def _platform_owners(connected: ConnectedInstallation) -> Finding:
    present = await connected.installation.database.read(owners.active)
    without_factor = sum(not owner.has_mfa for owner in present)
    return checks.platform_owners(connected.installation.settings, present=len(present), without_factor=without_factor)


async def _test_mail(connected: ConnectedInstallation, mail_to: str) -> Finding:
    assert connected.send_mail is not None, "no mail server is set"
    mail_to = canonical_email(mail_to, connected.installation.domain_names.to_ascii)
    language = await connected.installation.database.read(_language, mail_to)
    message = MailMessage(to=mail_to, template=MailTemplate.TEST, values={}, language=language)
    try:
        with trio.fail_after(MAIL_SECONDS_MAX):
            await connected.send_mail(UUID(int=0), mail_to, connected.installation.mail_renderer.render(message))
    except trio.TooSlowError:
        return Finding("mail", False, f"no response within {MAIL_SECONDS_MAX:.0f} s", MAIL_ADVICE)
    except equipment.MAIL_FAILURES as failure:
        return Finding("mail", False, printable(str(failure)), MAIL_ADVICE)
    return Finding("mail", True, f"a test mail was sent to {mail_to}")


def _language(uow: UnitOfWork, email: str) -> str | None:
    """Return the language of the account with this address; None when none is known."""
    user = uow.users.by_email(email)
    return user.language if user is not None else None
