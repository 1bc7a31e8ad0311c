"""The adapters that the settings choose: the mail gateway, the payment provider, locations, password hashing, metrics.

Invalid settings are refused here with `CannotStart`, before anything is started. `main.py` connects the adapters.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx
import trio

from adapters import pictures
from adapters.crypto import password_schemes, passwords
from adapters.crypto.machine_slots import MachineSlots
from adapters.crypto.passwords import Argon2Cost, Argon2PasswordHasher
from adapters.crypto.tokens import KeptKeys
from adapters.domain_names import IdnaDomainNames
from adapters.gateways.breached_ranges import HttpBreachedRanges
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.outbound import (
    EVERYWHERE,
    Observed,
    outbound_client,
    unobserved,
)
from adapters.gateways.sandbox_billing import SandboxGateway
from adapters.gateways.smtp import SmtpGateway
from adapters.gateways.smtp_server import SmtpServer, SmtpUrlInvalid
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.gateways.upstream_saml import HttpSamlConnectionGateway
from adapters.geoip import Edition, NoLocations
from adapters.password_lists.files import BreachedFileInvalid, BreachedPasswordFile, CommonPasswords
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.write_failures import WriteFailures
from adapters.prometheus import PrometheusMetrics
from adapters.resolver import DnsResolver
from adapters.saml.messages import LxmlSamlMessages
from core.accounts.passwords import BreachUnknown, PasswordRules
from core.accounts.user_import import HashTooExpensive
from core.email_addresses import normalize_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailDeferred, MailRefused
from core.platform_brand import NAME_DEFAULT, PlatformBrand
from entrypoints import clocks, logs, master_keys
from entrypoints import version as running
from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.frame.platform_look import look_of
from entrypoints.platform_brand import platform_brand
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.web.serving.admission import limit_refusals
from ports.clock import Clock
from ports.metrics_of_work import WorkMetrics

if TYPE_CHECKING:
    from adapters.crypto.passkeys import PyWebAuthn
    from adapters.gateways.stripe import StripeGateway
    from adapters.geoip_database import MaxMindLocations
    from entrypoints.workers_memory import WorkersMemory
    from ports.database import Database
    from ports.tracing import Tracer

DOMAIN_NAMES: Final = IdnaDomainNames()
# The purposes whose receivers are asked to continue a trace: services of organizations, and no other party.
CONTINUES_TRACES: Final = frozenset({"delivery", "logout"})
MAIL_FAILURES: Final = (MailDeferred, MailRefused)


def mail_renderer(settings: Settings, platform: PlatformBrand) -> JinjaMailRenderer:
    """Return the renderer of mails, in the languages of the pages and with the brand of the platform."""
    return JinjaMailRenderer(
        base_url=settings.base_url,
        languages=LANGUAGES,
        platform=platform.name,
        platform_color=platform.color,
        platform_logo=look_of(platform).mail_logo,
    )


def mail_gateway(settings: Settings, clock: Clock) -> SmtpGateway | None:
    """Return the gateway to the mail server; None when no server is set."""
    if settings.smtp_url is None:
        return None
    try:
        return SmtpGateway(SmtpServer.parse(settings.smtp_url.reveal(), sender_name=settings.name), clock=clock)
    except SmtpUrlInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_SMTP_URL is wrong. {invalid}") from invalid


def kept_keys(jwks: bytes, *, where: str) -> KeptKeys:
    """Return published keys that were kept in a file; raise `CannotStart` for any other content."""
    try:
        return KeptKeys(jwks)
    except ValueError:
        raise CannotStart(
            f"{where} has no published keys. They are the answer of `GET /.well-known/jwks.json`."
        ) from None


def webauthn(settings: Settings) -> PyWebAuthn:
    """Return WebAuthn for our own origin; a process calls this when a passkey is first used."""
    from adapters.crypto.passkeys import PyWebAuthn  # noqa: PLC0415 - takes 0.1 s and 5 MiB

    return PyWebAuthn(rp_id=settings.relying_party_id, rp_name=settings.name, origin=settings.origin)


def resolver(settings: Settings) -> DnsResolver:
    """Return the resolver for the proofs of domains and the names of targets."""
    server = settings.dns_server
    return DnsResolver((server.host, server.port) if server is not None else None)


def platform_brand_of(settings: Settings) -> PlatformBrand:
    """Return the name, the colour and the logo of the platform; raise `CannotStart` when the logo is not usable."""
    return platform_brand(settings, pictures.cleaned)


def require_settings(settings: Settings) -> None:
    """Raise `CannotStart` for settings that only an adapter can check, before anything is started."""
    master_keys.vault(settings)
    mail_gateway(settings, clocks.now)
    geoip_edition(settings)
    require_owner_email(settings)
    if isinstance(settings.breached_passwords, Path):
        breached_file(settings.breached_passwords)
    platform_brand_of(settings)


def require_owner_email(settings: Settings) -> None:
    """Raise `CannotStart` when the setting for the first platform owner is no address."""
    if settings.owner_email is None:
        return
    try:
        normalize_email(settings.owner_email, DOMAIN_NAMES.to_ascii)
    except BadRequest as invalid:
        raise CannotStart(f"GATEHOUSE_OWNER_EMAIL is wrong. {invalid.details[0].message}") from None


def billing_gateway(
    settings: Settings, database: Database, clock: Clock, tracing: Tracing | None = None
) -> StripeGateway | SandboxGateway:
    """Return the payment provider; without a key it is the sandbox, which may be closed."""
    if settings.billing_secret_key is None:
        return SandboxGateway(database=database, base_url=settings.base_url, is_open=settings.has_billing_sandbox)
    # Imported here, because an installation without a payment provider does not need the library for HTTP.
    from adapters.gateways.stripe import StripeGateway  # noqa: PLC0415

    return StripeGateway(
        url=settings.billing_url,
        key=settings.billing_secret_key,
        clock=clock,
        observed=observed_by(tracing, "billing"),
    )


async def billing_problem(settings: Settings, clock: Clock) -> str | None:
    """Ask the payment provider that is set; return why it cannot be used, None when it can.

    The caller limits the time.
    """
    assert settings.billing_secret_key is not None, "no payment provider is set"
    from adapters.gateways.stripe import StripeGateway  # noqa: PLC0415

    gateway = StripeGateway(url=settings.billing_url, key=settings.billing_secret_key, clock=clock)
    try:
        return await gateway.problem()
    finally:
        with trio.CancelScope(shield=True):
            await gateway.close()


async def http_status(
    settings: Settings, method: str, url: str, *, headers: Mapping[str, str] | None = None
) -> int | str:
    """Send a request without a body; return the status of the answer, or why there is none.

    The caller limits the time.
    """
    from adapters.gateways.reachability import Unreachable, status_of  # noqa: PLC0415

    try:
        return await status_of(method, url, resolver=resolver(settings), headers=headers)
    except Unreachable as unreachable:
        return str(unreachable)


@asynccontextmanager
async def provider_gateway(settings: Settings, clock: Clock, *, version: str) -> AsyncGenerator[HttpConnectionGateway]:
    """Open a gateway to the OpenID providers that the operator has added, for a check."""
    async with outbound_client(EVERYWHERE, lookups=NameLookups(resolver(settings))) as client:
        yield HttpConnectionGateway(UpstreamRequests(client, version=version), clock=clock)


def locations(settings: Settings) -> NoLocations | MaxMindLocations:
    """Open the GeoIP database, if one is set."""
    if settings.geoip_db is None:
        return NoLocations()
    # Imported here, because most installations have no such database and do not need its reader.
    from adapters.geoip_database import GeoipDatabaseInvalid, MaxMindLocations  # noqa: PLC0415

    try:
        return MaxMindLocations(settings.geoip_db)
    except GeoipDatabaseInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_GEOIP_DB is wrong. {invalid}") from invalid


def geoip_edition(settings: Settings) -> Edition | None:
    """Return the edition of the GeoIP database, None when none is set; raise `CannotStart` when it cannot be used."""
    opened = locations(settings)
    try:
        return opened.edition
    finally:
        opened.close()


# The cheapest that Argon2 computes.
QUICK: Final = Argon2Cost(memory_kib=8, passes=1)


def password_hasher(settings: Settings, *, workers: int = 1) -> Argon2PasswordHasher:
    """Return the password hasher; workers share the processors of their machine.

    Where there is a worker for each processor, one thread for each worker keeps all of them busy.
    """
    processors = len(os.sched_getaffinity(0))
    if workers == 1:
        return Argon2PasswordHasher(places=processors)
    machine = MachineSlots(settings.data_dir.resolve() / "hashing", processors)
    return Argon2PasswordHasher(places=processors if workers < processors else 1, machine=machine)


def quick_password_hasher() -> Argon2PasswordHasher:
    """Return a hasher for the passwords of a disposable instance, which protect nothing."""
    return Argon2PasswordHasher(places=1, cost=QUICK)


@cache
def common_passwords() -> CommonPasswords:
    """Return the list of the commonest passwords, whose file is opened once in a process."""
    return CommonPasswords()


def password_rules(settings: Settings) -> PasswordRules:
    """Return what new passwords have to be."""
    return PasswordRules(
        characters_min=settings.password_min_length, platform=settings.name, is_common=common_passwords()
    )


def breached_passwords(
    settings: Settings, client: httpx.AsyncClient, *, version: str
) -> BreachedPasswordFile | HttpBreachedRanges | None:
    """Return the list of breached passwords; None without one. Raise `CannotStart` when its file cannot be read."""
    if isinstance(settings.breached_passwords, str):
        return HttpBreachedRanges(client, settings.breached_passwords, version=version)
    return breached_file(settings.breached_passwords) if settings.breached_passwords is not None else None


def breached_file(path: Path) -> BreachedPasswordFile:
    """Return the file of breached passwords; raise `CannotStart` when it cannot be read."""
    try:
        return BreachedPasswordFile(path)
    except BreachedFileInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_BREACHED_PASSWORDS is wrong. {invalid}") from None


async def breached_passwords_problem(settings: Settings, *, version: str) -> str | None:
    """Ask the list of breached passwords that is set; return why it cannot be used, None when it can.

    The caller limits the time.
    """
    async with outbound_client(EVERYWHERE, lookups=NameLookups(resolver(settings))) as client:
        try:
            known = breached_passwords(settings, client, version=version)
            assert known is not None, "no list of breached passwords is set"
            if isinstance(known, BreachedPasswordFile):
                await known.require_usable()
            else:
                # Of any password: whether it has leaked is not looked at.
                await known.contains(NAME_DEFAULT, is_hurried=False)
        except (BreachUnknown, CannotStart) as problem:
            return str(problem)
    return None


# Whether hashing gives a known result; and the instructions that it was built for, None for those of every processor.
hashing_is_correct: Final = passwords.passes_known_answer
hashing_built_for: Final = passwords.built_for


def hashes_per_second() -> float:
    """Measure how many passwords one processor hashes per second."""
    return passwords.hashes_per_second(threads=1)


# Returns the stored form of an imported password hash, None when no sign-in could verify it; raises `HashTooExpensive`.
stored_password_form: Final = password_schemes.stored_form


def is_comparable(encoded: str) -> bool:
    """Return whether a sign-in compares a stored hash, or refuses every password for it."""
    try:
        return password_schemes.read(encoded) is not None
    except HashTooExpensive:
        return False


def saml_connections(requests: UpstreamRequests, settings: Settings) -> HttpSamlConnectionGateway:
    """Return the gateway to the SAML identity providers of connections, with this many threads at once."""
    return HttpSamlConnectionGateway(requests, processors=len(os.sched_getaffinity(0)), takes_cbc=settings.saml_aes_cbc)


def saml_messages() -> LxmlSamlMessages:
    """Return what reads and signs the messages of SAML."""
    return LxmlSamlMessages(processors=len(os.sched_getaffinity(0)))


def metrics(
    *, worker: int | None, memory: WorkersMemory | None, count_database_restarts: Callable[[], int] | None
) -> PrometheusMetrics:
    """Return the metrics; any worker exposes the counts of all that share the memory."""
    return PrometheusMetrics(
        version=running.version(),
        worker=worker or 0,
        shared=memory.metrics if memory is not None else None,
        limits=limit_refusals.vocabulary(),
        count_database_restarts=count_database_restarts,
        count_replaced_workers=memory.replaced.by_reason if memory is not None else None,
        count_dropped_lines=logs.dropped_lines,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """What traces requests, statements and calls to others, and what ends it."""

    tracer: Tracer
    close: Callable[[], None]
    connection: Callable[[RawConnection, WriteFailures], Connection]
    transport: Callable[[str], Observed]


def tracing(settings: Settings, *, version: str, metrics: WorkMetrics) -> Tracing | None:
    """Begin to trace, if a collector is set; raise `CannotStart` without the packages that it needs."""
    if settings.traces_url is None:
        return None
    # Imported here, because an installation without traces has no such packages and must pay nothing for them.
    try:
        from adapters.tracing.exporting import ExportingQueue  # noqa: PLC0415
    except ModuleNotFoundError:
        raise CannotStart(
            "GATEHOUSE_TRACES_URL is set, and the packages for traces are not installed. Install Gatehouse with its"
            " extra `traces` (ops/requirements-traces.lock), or unset it."
        ) from None
    from adapters.gateways.traced_requests import TracedTransport  # noqa: PLC0415
    from adapters.postgres.driver.traced_connection import TracedConnection  # noqa: PLC0415
    from adapters.tracing.spans import SamplingTracer  # noqa: PLC0415

    queue = ExportingQueue(
        settings.traces_url, authorization=settings.traces_authorization, version=version, metrics=metrics
    )
    tracer = SamplingTracer(queue, percent=settings.traces_percent)

    def transport(purpose: str) -> Observed:
        return partial(TracedTransport, tracer=tracer, purpose=purpose, passes_on=purpose in CONTINUES_TRACES)

    return Tracing(
        tracer=tracer, close=queue.close, connection=partial(TracedConnection, tracer=tracer), transport=transport
    )


def connection_of(tracing: Tracing | None) -> Callable[[RawConnection, WriteFailures], Connection]:
    """Return what makes the connections of the pool: without traces, no statement passes anything more."""
    return Connection if tracing is None else tracing.connection


def observed_by(tracing: Tracing | None, purpose: str) -> Observed:
    """Return what a transport of that purpose is observed by."""
    return unobserved if tracing is None else tracing.transport(purpose)
