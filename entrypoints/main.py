"""The one module that knows every layer: it connects the ports, and takes the connections down in reverse.

What is then done with a connected house stands elsewhere: serving in `serving.py`, an operator's commands in
`operations.py`, the examination in `doctor.py`.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
import trio

from actors.audit_counter import AuditCounter
from actors.doorbells import MemoryDoorbells
from actors.housekeeper import Housekeeper
from actors.invitation_sweeper import InvitationSweeper
from actors.key_refresher import KeyRefresher
from actors.mail_courier import MailCourier
from actors.metrics_refresher import MetricsRefresher
from actors.supervision import Supervisor
from adapters import prometheus
from adapters.crypto import password_schemes, passwords
from adapters.crypto.key_pairs import make_key_pair
from adapters.crypto.machine_slots import MachineSlots
from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, RsaKeyRing
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import MasterKey, MasterKeysInvalid, SealBroken, Vault, parse_master_keys
from adapters.gateways.mail_renderer import JinjaMailRenderer
from adapters.gateways.smtp import SmtpGateway
from adapters.gateways.smtp_server import SmtpServer, SmtpUrlInvalid
from adapters.geoip import NoLocations
from adapters.postgres import migrations, rewrap
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.embedded import EmbeddedPostgres, EmbeddedPostgresError
from adapters.postgres.embedded_folder import DataFolderError, ServingLock, explaining_refusals, make_data_folder
from adapters.postgres.pool import Pool
from adapters.postgres.unit_of_work import Tools
from adapters.prometheus import PrometheusMetrics, SharedMetrics
from adapters.qr_codes import SegnoQrCodes
from core import server_secrets, signing_keys
from core.errors import Refusal
from core.limits import IMPERSONATION_LIFETIME_MAX
from core.mail import MailDeferred, MailRefused
from core.secrets import Secret
from entrypoints.house import House
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
    from uuid import UUID

    from adapters.geoip import Edition
    from adapters.geoip_database import MaxMindLocations
    from core.mail import RenderedMail
    from entrypoints.settings import Settings

DATABASE_WAIT_SECONDS_MAX: Final = 30.0
DATABASE_POLL_SECONDS: Final = 0.5
MASTER_KEY_FILE: Final = "master-key"
MAIL_FAILURES: Final = (MailDeferred, MailRefused)

log = structlog.get_logger(__name__)


# What a person at the terminal is told in one line; anything else is a defect and shows itself whole.
REFUSALS: Final = (
    CannotStart,
    DataFolderError,
    EmbeddedPostgresError,
    migrations.MigrationError,
    Refusal,
    SealBroken,
)


def unless_refused(run: Callable[[], int | None]) -> int:
    """Run a command and give its exit status; what it was refused is one line for the person at the terminal."""
    try:
        with unwrapped():
            return run() or 0
    except REFUSALS as refusal:
        sys.stderr.write(f"gatehouse: {refusal}\n")
        sys.stderr.flush()
        return 1


@contextmanager
def unwrapped() -> Generator[None]:
    """Let what is foreseen and came out of nurseries, each of which wraps it once more, come out alone."""
    try:
        yield
    except BaseExceptionGroup as group:
        foreseen, defects = group.split((*REFUSALS, KeyboardInterrupt, BrokenPipeError))
        if foreseen is None or defects is not None:
            raise
        first: BaseException = foreseen
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


def version() -> str:
    """Give the package's own version."""
    return importlib.metadata.version("gatehouse")


def now() -> datetime:
    """Give the present moment; the `Clock` of a running house."""
    return datetime.now(UTC)


def insist_on_settings(settings: Settings) -> None:
    """Refuse the settings that only an adapter can judge, before anything is started."""
    vault(settings)
    mail_gateway(settings)
    geoip_edition(settings)


def serving_lock(settings: Settings) -> ServingLock:
    """Give the lock that keeps a second server out of the same data folder."""
    return ServingLock(settings.data_dir)


@contextmanager
def database_address(settings: Settings) -> Generator[Secret]:
    """Give the address of the database, and run the embedded one for as long as somebody needs it."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.data_dir) as address:
        yield Secret(address)


def await_database(address: Secret, report: Callable[[str], None]) -> None:
    """Wait a while for a database that is still starting."""
    give_up_at = time.monotonic() + DATABASE_WAIT_SECONDS_MAX
    is_told = False
    while True:
        try:
            with migrations.connected(address.reveal()):
                return
        except migrations.DatabaseAway as away:
            if time.monotonic() >= give_up_at:
                raise
            if not is_told:
                report(f"{away} Trying again for {DATABASE_WAIT_SECONDS_MAX:.0f} s.")
            is_told = True
        time.sleep(DATABASE_POLL_SECONDS)


def migrate(address: Secret, report: Callable[[str], None]) -> list[migrations.Migration]:
    """Bring the schema up to date."""
    with migrations.connected(address.reveal()) as connection:
        return migrations.migrate(connection, report)


def migration_plan(address: Secret) -> migrations.Plan:
    """Say what `migrate` would do."""
    with migrations.connected(address.reveal()) as connection:
        return migrations.plan(connection)


def insist_on_schema(address: Secret) -> None:
    """Refuse a database that was not migrated to this version."""
    pending = migration_plan(address).pending
    if pending:
        raise CannotStart(
            f"The database's schema is behind by {len(pending)}. Look with `gatehouse migrate --plan`,"
            " then run `gatehouse migrate`."
        )


def vault(settings: Settings) -> Vault:
    """Open the vault: with the keys of the setting, else with one that is generated and kept in the data folder."""
    keys = settings.master_keys
    if keys is None and not settings.is_embedded and not settings.dev:
        raise CannotStart(
            "GATEHOUSE_MASTER_KEYS is missing, and nothing is ever stored in plain text. Make a key with"
            " `gatehouse keys generate` and keep a copy of it: what it encrypts is lost without it."
        )
    try:
        return Vault(parse_master_keys(keys or kept_secret(settings, MASTER_KEY_FILE, generated_master_key)))
    except MasterKeysInvalid as invalid:
        raise CannotStart(f"{master_key_place(settings)} is wrong. {invalid}") from invalid


def mail_gateway(settings: Settings) -> SmtpGateway | None:
    """Give the way to the mail server, if one is set."""
    if settings.smtp_url is None:
        return None
    try:
        return SmtpGateway(SmtpServer.parse(settings.smtp_url.reveal()), clock=now)
    except SmtpUrlInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_SMTP_URL is wrong. {invalid}") from invalid


def master_key_place(settings: Settings) -> str:
    """Say where the master keys come from."""
    return "GATEHOUSE_MASTER_KEYS" if settings.master_keys is not None else str(settings.data_dir / MASTER_KEY_FILE)


def kept_secret(settings: Settings, name: str, make: Callable[[], str]) -> Secret:
    """Give the secret in that file of the data folder, which is made when it is missing, whole or not at all."""
    path = settings.data_dir / name
    with explaining_refusals(settings.data_dir):
        make_data_folder(settings.data_dir)
        if not path.exists():
            _write_once(path, make() + "\n")
        return Secret(path.read_text().strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A connected house, and the few parts of it that only starting, stopping and operators touch."""

    house: House
    start_actors: Callable[[], None]
    load_secrets: Callable[[], Awaitable[None]]
    send_mail: Callable[[UUID, str, RenderedMail], Awaitable[None]] | None


@asynccontextmanager
async def connected(settings: Settings, address: Secret, *, worker: int | None = None) -> AsyncGenerator[Connected]:
    """Connect every port to its adapter; actors are connected too, and sleep until `start_actors`.

    `worker` is which of several workers this process is; alone it is none.
    """
    opened_vault = vault(settings)
    randomness = SystemRandomness()
    shared_metrics = None if worker is None else SharedMetrics(folder=_metrics_folder(settings), place=worker)
    metrics = PrometheusMetrics(version=version(), shared=shared_metrics)
    doorbells = MemoryDoorbells()
    pepper = HmacPepper()
    locations = _locations(settings)
    pool = Pool(address.reveal(), connections_max=settings.database_connections)
    database = PostgresDatabase(
        pool=pool,
        tools=Tools(
            clock=now,
            randomness=randomness,
            vault=opened_vault,
            pepper=pepper,
            locations=locations,
            totp=PyotpTotp(),
            webauthn=PyWebAuthn(rp_id=settings.relying_party_id, origin=settings.origin),
        ),
        doorbells=doorbells,
    )
    ring = RsaKeyRing()
    renderer = JinjaMailRenderer(base_url=settings.base_url)
    refresher = KeyRefresher(database=database, ring=ring)
    gateway = mail_gateway(settings)
    courier = MailCourier(database=database, doorbells=doorbells, renderer=renderer, gateway=gateway, metrics=metrics)
    pool.open()
    try:
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=now, metrics=metrics)

            def start_actors() -> None:
                supervisor.supervise("key_refresher", refresher.run)
                supervisor.supervise(
                    "metrics_refresher", MetricsRefresher(database=database, pool=pool, metrics=metrics).run
                )
                supervisor.supervise("housekeeper", Housekeeper(database=database, metrics=metrics).run)
                supervisor.supervise("invitation_sweeper", InvitationSweeper(database=database, metrics=metrics).run)
                supervisor.supervise("audit_counter", AuditCounter(database=database, metrics=metrics).run)
                supervisor.supervise("mail_courier", courier.run, drain=courier.drain)

            async def load_secrets() -> None:
                await ensure_signing_keys(house)
                await refresher.refresh()
                pepper.load(await database.transact(server_secrets.pepper, os.urandom(PEPPER_BYTES)))

            house = House(
                settings=settings,
                version=version(),
                clock=now,
                database=database,
                metrics=metrics,
                actors=supervisor,
                tokens=JwtTokenSigner(ring, issuer=settings.base_url, randomness=randomness),
                key_refresh=refresher,
                passwords=_password_hasher(settings, is_alone=worker is None),
                qr_codes=SegnoQrCodes(),
                mail_renderer=renderer,
            )
            yield Connected(
                house=house,
                start_actors=start_actors,
                load_secrets=load_secrets,
                send_mail=gateway.send if gateway is not None else None,
            )
            await supervisor.stop()
    finally:
        # The last, because actors write down what they did until they have ended.
        pool.close()
        locations.close()


async def published_signing_keys(house: House) -> Sequence[signing_keys.SigningKey]:
    """List the signing keys; refuse when they cannot be opened, because then nothing else can be either."""
    try:
        return await house.database.read(signing_keys.published)
    except SealBroken as broken:
        place = master_key_place(house.settings)
        raise CannotStart(f"{broken} Put the master key back that the database was used with: {place}.") from broken


async def ensure_signing_keys(house: House) -> None:
    """Give a new installation its keys."""
    if not await published_signing_keys(house):
        active, following = [await trio.to_thread.run_sync(make_key_pair) for _ in range(2)]
        await house.database.transact(signing_keys.ensure, active, following)


async def rotate_signing_keys(house: House) -> signing_keys.SigningKey:
    """Let the next key sign; everybody knows it already."""
    fresh = await trio.to_thread.run_sync(make_key_pair)
    longest = max(house.settings.access_token_ttl, IMPERSONATION_LIFETIME_MAX)
    return await house.database.transact(signing_keys.rotate, fresh, longest)


def generated_master_key() -> str:
    """Make a master key, as the setting takes it."""
    return MasterKey.generate().encoded()


def rewrap_secrets(settings: Settings, address: Secret, report: Callable[[str], None]) -> int:
    """Encrypt every secret with the first master key; say how many were not yet, raise when some could not be."""
    with migrations.connected(address.reveal()) as connection:
        done = rewrap.rewrap(connection, vault(settings), report)
    for column in done:
        if not column.is_complete:
            raise CannotStart(
                f"{column.column}: {column.unreadable} could not be read with these keys and {column.held} were in use."
                " Nothing is lost. Add the missing master key, or run this again, before you remove one."
            )
    return sum(column.rewrapped for column in done)


def stored_password_form(given: object) -> str | None:
    """Give the form in which an imported password hash is kept, or nothing when it could not be compared."""
    return password_schemes.stored_form(given)


def hashing_is_right() -> bool:
    """Hash something whose result is known."""
    return passwords.computes_correctly()


def hashes_per_second() -> float:
    """Measure how many passwords one processor hashes in a second."""
    return passwords.hashes_per_second(threads=1)


def geoip_edition(settings: Settings) -> Edition | None:
    """Say which GeoIP database is set; raise `CannotStart` when it cannot be used."""
    locations = _locations(settings)
    try:
        return locations.edition
    finally:
        locations.close()


def forget_shared_metrics(settings: Settings) -> None:
    """Make room for what new workers will count."""
    prometheus.forget_shared_metrics(_metrics_folder(settings))


def _locations(settings: Settings) -> NoLocations | MaxMindLocations:
    if settings.geoip_db is None:
        return NoLocations()
    # Here, because most installations have no such database and need not load what reads it.
    from adapters.geoip_database import GeoipDatabaseInvalid, MaxMindLocations  # noqa: PLC0415

    try:
        return MaxMindLocations(settings.geoip_db)
    except GeoipDatabaseInvalid as invalid:
        raise CannotStart(f"GATEHOUSE_GEOIP_DB is wrong. {invalid}") from invalid


def _metrics_folder(settings: Settings) -> Path:
    return settings.data_dir.resolve() / "metrics"


def _password_hasher(settings: Settings, *, is_alone: bool) -> Argon2PasswordHasher:
    processors = len(os.sched_getaffinity(0))
    machine = None if is_alone else MachineSlots(settings.data_dir.resolve() / "hashing", processors)
    return Argon2PasswordHasher(places=processors, machine=machine)


def _write_once(path: Path, text: str) -> None:
    """Write a file that is whole or missing, after a crash too; when two do it at once, one of them has done it."""
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
            log.info("secret.generated", file=str(path))
    finally:
        Path(draft).unlink()
