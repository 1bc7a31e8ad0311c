"""`gatehouse doctor`: checks what Gatehouse depends on, with advice for what is not OK."""

from __future__ import annotations

import os
import resource
import shutil
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

import trio

from core.accounts import user_import
from core.billing import sandbox
from core.email_addresses import canonical_email
from core.mail.mail import MailMessage, MailTemplate
from core.organizations.settings.pictures import PictureType
from core.platform import health_figures, left_credentials, public_names
from core.sessions.signing_keys import KeyState
from entrypoints import billing_settings, database, equipment, main, master_keys
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.secrets import Secret
    from entrypoints.main import ConnectedInstallation
    from entrypoints.settings import Settings
    from ports.unit_of_work import UnitOfWork

    Report = Callable[[str], None]

FILES_MIN: Final = 4096
CLOCK_DIFFERENCE_SECONDS_MAX: Final = 2.0
FREE_BYTES_MIN: Final = 1024**3
MAIL_SECONDS_MAX: Final = 30.0
PORTABLE_BUILD_ADVICE: Final = (
    "A build for this processor may be two or three times as fast: `.venv/bin/python ops/build_argon2.py --plan` says"
    " whether it can be made here."
)
LISTED_MAX: Final = 10
CREDENTIALS_LISTED_MAX: Final = 20
SALES_LISTED_MAX: Final = 100
GEOIP_AGE_MAX: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `advice` is what to do when it is not OK, or what is worth knowing."""

    subject: str
    is_ok: bool
    what: str
    advice: str = ""


def examine(settings: Settings, *, unknown_settings: Sequence[str], mail_to: str | None, report: Report) -> int:
    """Print a line for each check, with its advice below; return 0 when everything is OK, else 1."""
    are_all_ok = True
    for finding in _findings(settings, unknown_settings, mail_to):
        are_all_ok = are_all_ok and finding.is_ok
        report(f"{'ok' if finding.is_ok else 'NOT OK':<8}{finding.subject:<20}{finding.what}")
        if finding.advice:
            report(f"{'':<28}{finding.advice}")
    return 0 if are_all_ok else 1


def _findings(settings: Settings, unknown_settings: Sequence[str], mail_to: str | None) -> Iterator[Finding]:
    yield _settings(settings, unknown_settings)
    yield _data_folder(settings)
    yield _file_descriptors()
    yield _password_hashing()
    yield _billing(settings)
    if settings.geoip_db is not None:
        geoip = _geoip(settings)
        yield geoip
        # The other checks can run without it.
        settings = settings if geoip.is_ok else replace(settings, geoip_db=None)
    if settings.logo is not None:
        logo = _logo(settings)
        yield logo
        settings = settings if logo.is_ok else replace(settings, logo=None)
    required = [_master_key(settings), *_mail_server(settings)]
    yield from required
    try:
        with main.ungrouped_errors(), database.address_of(settings) as address:
            plan = database.migration_plan(address)
            database.require_suitable(address)
            yield Finding("database", True, "embedded" if settings.is_embedded else "connected")
            if settings.database_listen_url is not None:
                yield _listening(database.listening_problem(settings, address))
            yield _migrations(plan.applied, plan.pending, plan.ahead)
            if not plan.pending:
                yield _addresses(database.accounts_without_canonical_address(address))
                yield from _connections(database.connections_with_changed_issuer(address))
            if not plan.pending and all(finding.is_ok for finding in required):
                yield from trio.run(partial(_connected_findings, settings, address, mail_to))
    except main.REFUSALS as refusal:
        yield Finding("database", False, str(refusal), "The checks that need the database were skipped.")


def _settings(settings: Settings, unknown_settings: Sequence[str]) -> Finding:
    if unknown_settings:
        return Finding("settings", False, " ".join(unknown_settings), "Correct the name, or unset it.")
    if settings.dev:
        return Finding("settings", True, "development mode", "Set GATEHOUSE_DEV=off for production.")
    if not settings.base_url.startswith("https:"):
        advice = "Put a proxy with TLS in front and set GATEHOUSE_BASE_URL to its https address."
        return Finding("settings", False, f"the base URL {settings.base_url} is not encrypted", advice)
    if not settings.rate_limits:
        return Finding("settings", False, "rate limits are off", "Unset GATEHOUSE_RATE_LIMITS.")
    return Finding("settings", True, f"the base URL is {settings.base_url}")


def _logo(settings: Settings) -> Finding:
    try:
        brand = equipment.platform_brand_of(settings)
    except CannotStart as refusal:
        return Finding("logo", False, str(refusal), "Gatehouse does not start with it.")
    assert brand.logo is not None, "a logo that is set was not read"
    is_in_mails = brand.logo.type is PictureType.PNG
    advice = "" if is_in_mails else "Mails show the name in its place: few mail programs show an SVG. Take a PNG."
    return Finding("logo", True, f"{settings.logo}", advice)


def _data_folder(settings: Settings) -> Finding:
    folder = settings.data_dir.resolve()
    try:
        database.make_data_folder(folder)
    except OSError as error:
        return Finding("data folder", False, f"{folder}: {error.strerror}", "Set GATEHOUSE_DATA_DIR to another one.")
    if not folder.is_dir():
        return Finding("data folder", False, f"{folder} is not a folder", "Set GATEHOUSE_DATA_DIR to another one.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("data folder", False, f"{folder} is not writable", "Make Gatehouse's user its owner.")
    free = shutil.disk_usage(folder).free
    advice = "" if free >= FREE_BYTES_MIN else "Free disk space: with less than 1 GiB the database may stop."
    return Finding("data folder", free >= FREE_BYTES_MIN, f"{folder}, {free / 1024**3:.1f} GiB free", advice)


def _file_descriptors() -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = hard == resource.RLIM_INFINITY or hard >= FILES_MIN
    advice = "" if is_enough else f"Raise the limit to {FILES_MIN} or more (LimitNOFILE= or ulimit -Hn)."
    what = "no limit" if hard == resource.RLIM_INFINITY else f"at most {hard}"
    return Finding("file descriptors", is_enough, what, advice)


def _password_hashing() -> Finding:
    if not equipment.hashing_is_correct():
        return Finding("password hashing", False, "wrong results", "Remove .venv and run ops/run again.")
    rate, instructions = equipment.hashes_per_second(), equipment.hashing_built_for()
    build = f"built for {instructions}" if instructions else "the build for any processor"
    what = f"{rate:.0f} per second on each processor, {build}"
    return Finding("password hashing", True, what, "" if instructions else PORTABLE_BUILD_ADVICE)


def _master_key(settings: Settings) -> Finding:
    try:
        master_keys.vault(settings)
    except main.REFUSALS as refusal:
        return Finding("master key", False, str(refusal), "The checks that need the master key were skipped.")
    place = master_keys.place(settings)
    return Finding("master key", True, f"from {place}", "Keep a copy of it: what it encrypts is lost without it.")


def _mail_server(settings: Settings) -> Iterator[Finding]:
    try:
        equipment.mail_gateway(settings, main.now)
    except main.REFUSALS as refusal:
        yield Finding("mail", False, str(refusal), "The checks that need every setting were skipped.")


def _billing(settings: Settings) -> Finding:
    if settings.has_billing_provider:
        return Finding("billing", True, f"the payment provider at {settings.billing_url}")
    if settings.has_billing_sandbox:
        return Finding("billing", True, "the sandbox, where no money moves", billing_settings.SANDBOX_ADVICE)
    return Finding("billing", True, "no payment provider is set", billing_settings.NOTHING_FOR_SALE_ADVICE)


def _geoip(settings: Settings) -> Finding:
    try:
        edition = equipment.geoip_edition(settings)
    except main.REFUSALS as refusal:
        return Finding("GeoIP", False, str(refusal), "Set GATEHOUSE_GEOIP_DB to another file, or unset it.")
    assert edition is not None, "the GeoIP database has no edition"
    age = main.now() - edition.made_at
    advice = (
        f"It is {age.days} days old and may be outdated. Replace it with a newer one." if age > GEOIP_AGE_MAX else ""
    )
    return Finding("GeoIP", True, f"{edition.kind}, made on {edition.made_at:%Y-%m-%d}", advice)


def _listening(problem: str | None) -> Finding:
    if problem is None:
        return Finding("notifications", True, "connected")
    advice = "Set GATEHOUSE_DATABASE_LISTEN_URL to the same database, by an address without a pooler."
    return Finding("notifications", False, problem, advice)


def _migrations(applied: Sequence[object], pending: Sequence[object], ahead: Sequence[object]) -> Finding:
    if pending:
        advice = "Run `gatehouse migrate`. The checks that need the schema were skipped."
        return Finding("migrations", False, f"{len(pending)} pending", advice)
    if ahead:
        what = f"ahead of this version at {applied[-1]}, and says that this version works with it"
        return Finding("migrations", True, what, "Replace this version by the newer one when it suits.")
    return Finding("migrations", True, f"up to date at {applied[-1]}")


def _addresses(accounts: Sequence[UUID]) -> Finding:
    if not accounts:
        return Finding("addresses", True, "every account has its address in the canonical form")
    listed = ", ".join(str(account) for account in accounts[:LISTED_MAX])
    what = f"addresses that no mail is sent to: {len(accounts)}; the accounts are {listed}"
    return Finding("addresses", False, what, "See ops/runbooks/mail.md, the section on addresses.")


def _connections(changed: Sequence[UUID]) -> Iterator[Finding]:
    if changed:
        listed = ", ".join(str(one) for one in changed[:LISTED_MAX])
        what = f"with another issuer than before, and the client secret of before: {len(changed)}; they are {listed}"
        advice = "Ask their organizations to enter the client secret again, and to withdraw it at the issuer before."
        yield Finding("connections", False, what, advice)


async def _connected_findings(settings: Settings, address: Secret, mail_to: str | None) -> list[Finding]:
    async with main.connected(settings, address) as connected:
        return [
            await _clock(connected),
            await _keys(connected),
            await _credentials(connected),
            *await _imported_passwords(connected),
            *await _sandbox_sales(connected),
            *await _names(connected),
            await _mail(connected, mail_to),
        ]


async def _clock(connected: ConnectedInstallation) -> Finding:
    before = connected.installation.clock()
    database_time = await connected.installation.database.read(health_figures.database_time)
    after = connected.installation.clock()
    difference = max((database_time - after).total_seconds(), (before - database_time).total_seconds(), 0.0)
    is_ok = difference <= CLOCK_DIFFERENCE_SECONDS_MAX
    advice = "" if is_ok else "Synchronize both machines with NTP; one-time codes and tokens depend on the time."
    what = f"{after:%Y-%m-%d %H:%M:%S} UTC, {difference:.1f} s from the database's clock"
    return Finding("clock", is_ok, what, advice)


async def _keys(connected: ConnectedInstallation) -> Finding:
    try:
        published = await main.published_signing_keys(connected.installation)
    except CannotStart as refusal:
        return Finding("keys", False, str(refusal), "The server cannot start until this is solved.")
    active = [key for key in published if key.state is KeyState.ACTIVE]
    if not active:
        return Finding("keys", True, "none yet", "The first `gatehouse serve` makes them.")
    described = ", ".join(f"{key.kid} ({key.algorithm}, made on {key.created_at:%Y-%m-%d})" for key in active)
    return Finding("keys", True, f"active signing keys: {described}")


async def _credentials(connected: ConnectedInstallation) -> Finding:
    left = await connected.installation.database.read(left_credentials.without_right)
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
    found = await connected.installation.database.read(public_names.breaking_the_rule)
    if not found:
        return []
    listed = ", ".join(one.place for one in found[:LISTED_MAX])
    what = f"names that mention an address of the web: {len(found)}; {listed}"
    advice = "Ask their organizations to rename them. They keep working, and mails say a neutral word instead."
    return [Finding("names", False, what, advice)]


async def _mail(connected: ConnectedInstallation, mail_to: str | None) -> Finding:
    if connected.send_mail is None:
        return Finding("mail", True, "stored in the database, not sent", "Set GATEHOUSE_SMTP_URL to send mail.")
    if mail_to is None:
        return Finding("mail", True, "a server is set", "To test it, run `gatehouse doctor --mail-to ADDRESS`.")
    mail_to = canonical_email(mail_to, connected.installation.domain_names.to_ascii)
    language = await connected.installation.database.read(_language, mail_to)
    message = MailMessage(to=mail_to, template=MailTemplate.TEST, values={}, language=language)
    try:
        with trio.fail_after(MAIL_SECONDS_MAX):
            await connected.send_mail(UUID(int=0), mail_to, connected.installation.mail_renderer.render(message))
    except trio.TooSlowError:
        return Finding("mail", False, f"no response within {MAIL_SECONDS_MAX:.0f} s", "Check GATEHOUSE_SMTP_URL.")
    except equipment.MAIL_FAILURES as failure:
        return Finding("mail", False, str(failure), "Check GATEHOUSE_SMTP_URL.")
    return Finding("mail", True, f"a test mail was sent to {mail_to}")


def _language(uow: UnitOfWork, email: str) -> str | None:
    """Return the language of the account with this address; None when none is known."""
    user = uow.users.by_email(email)
    return user.language if user is not None else None
