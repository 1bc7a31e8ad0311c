"""The operators' commands: migrations, keys, platform owners, user imports, audit logs. Each prints what it did."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import trio

from core.accounts import passwords
from core.platform import commands, owners
from core.secrets import Secret
from entrypoints import clocks, database, equipment, main, master_keys, signing_key_pairs
from entrypoints.installation import ConnectedInstallation
from entrypoints.operator import migration_plan
from entrypoints.operator.acting import database_for
from entrypoints.operator.audit_verification import AuditVerification, KeptProof, NamedKeys, PresentKeys
from entrypoints.operator.user_import import UserImportRun
from entrypoints.progress import Progress
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.shared.accounts.passwords import generated_password, hashed

Report = Callable[[str], None]


PASSWORD_BYTES: Final = 12
PROOF_BYTES_MAX: Final = 2**16
KEYS_BYTES_MAX: Final = 2**20
UP_TO_DATE: Final = "Nothing to do: the schema is up to date."


def migrate(settings: Settings, *, is_plan: bool, report: Report) -> None:
    """Bring the schema up to date, or only list the pending migrations."""
    with database.address_of(settings) as address:
        database.wait_for(address, report)
        session_address = database.session_address(settings, address)
        if is_plan:
            pending = database.migration_plan(address).pending
            undistributed = database.undistributed_logs(address)
            steps = database.migration_steps(address) if pending else []
            report(migration_plan.described(pending, steps, undistributed) if pending or undistributed else UP_TO_DATE)
        else:
            undistributed = database.undistributed_logs(address)
            applied = database.migrate(session_address, report)
            if applied:
                report(f"Migrations applied: {len(applied)}.")
            else:
                report("The schema is up to date, and its logs are distributed." if undistributed else UP_TO_DATE)


def list_keys(settings: Settings, *, report: Report) -> None:
    """List the published signing keys."""

    async def run(connected: ConnectedInstallation) -> None:
        published = await signing_key_pairs.published(connected.installation)
        if not published:
            report("There are no signing keys yet. `gatehouse serve` makes them at its first start.")
        for key in published:
            until = f", published until {key.published_until:%Y-%m-%d %H:%M} UTC" if key.published_until else ""
            report(f"{key.kid}  {key.algorithm}  {key.state:<7}  made {key.created_at:%Y-%m-%d %H:%M} UTC{until}")

    with_installation(settings, run)


def rotate_keys(settings: Settings, *, report: Report) -> None:
    """Make the next signing key of each kind the active one; running servers notice by themselves."""

    async def run(connected: ConnectedInstallation) -> None:
        await connected.load_secrets()
        for active in await signing_key_pairs.rotate(connected.installation, database_for(connected, "keys rotate")):
            report(f"Key {active.kid} signs by {active.algorithm} from now on.")
        report("Tokens signed with the previous keys stay valid until they expire.")

    with_installation(settings, run)


def rewrap_secrets(settings: Settings, *, report: Report) -> None:
    """Encrypt every secret with the first master key; afterwards the other master keys may be removed.

    Raise `CannotStart` when some could not be; what was done is recorded all the same.
    """
    progress = Progress(sys.stderr)

    def show(column: object, done: int, total: int) -> None:
        progress.show(done, "rows", total=total, context=f"{column}: ")

    with database.address_of(settings) as address:
        # Before anything is changed, because a schema that is not up to date cannot record it.
        database.require_schema(address)
        with progress:
            session_address = database.session_address(settings, address)
            done = master_keys.rewrap_secrets(settings, session_address, progress.around(report), show)

        async def record(connected: ConnectedInstallation) -> None:
            recording = database_for(connected, "keys rewrap")
            await recording.transact(commands.record_rewrap, done.key_id, done.count, left=done.left)

        trio.run(partial(_connected, settings, address, record))
    if done.problem:
        raise CannotStart(done.problem)
    report(f"Secrets re-encrypted: {done.count}. The first key of GATEHOUSE_MASTER_KEYS is now the only one in use.")


def generate_master_key(_settings: Settings, *, report: Report) -> None:
    """Print a new master key."""
    report(master_keys.generated())


def appoint_owner(settings: Settings, email: str, password: str | None, *, report: Report) -> None:
    """Make the account with this address a platform owner; without an account, make one with a password."""
    is_given = password is not None
    password = password if password is not None else generated_password(settings, PASSWORD_BYTES)
    new = passwords.accepted(password, "password", equipment.password_rules(settings), [email])

    async def run(connected: ConnectedInstallation) -> None:
        password_hash = await hashed(connected.installation, new)
        appointment = await database_for(connected, "owner").transact(owners.appoint, email, password_hash)
        owner = appointment.owner
        if not appointment.is_new_account:
            report(f"{owner.email} is now a platform owner. The existing account keeps its password.")
        elif is_given:
            report(f"{owner.email} is now a platform owner. The new account has the password that you entered.")
        else:
            report(f"{owner.email} is now a platform owner. Password: {password}")

    with_installation(settings, run)


def import_users(settings: Settings, name: str, *, is_check: bool, report: Report) -> int:
    """Import accounts from a file; return 0 when every line was accepted, else 1."""
    with _opened(name) as file:
        importing = UserImportRun(
            file, equipment.stored_password_form, equipment.DOMAIN_NAMES.to_ascii, clocks.now, sys.stderr
        )
        try:
            if is_check:
                trio.run(importing.run, None)
            else:
                with_installation(settings, lambda connected: importing.run(connected.installation.database))
        finally:
            # Also after an interruption or a database failure, because the finished batches are stored.
            for sentence in importing.summary(is_check=is_check):
                report(sentence)
    return 1 if importing.rejected else 0


def verify_audit_logs(
    settings: Settings,
    organization: str | None,
    *,
    file: str | None,
    proof: str | None,
    keys: str | None,
    report: Report,
) -> int:
    """Verify the logs in the database or an export; return 0 when every log fits, else 1.

    `proof` and `keys` name files: an earlier proof, and the published keys that check signatures.
    """
    run = AuditVerification(sys.stderr)
    if proof is not None:
        with _opened(proof) as opened:
            run.proof = KeptProof.parse(opened.read(PROOF_BYTES_MAX), where=proof)

    if keys is not None:
        with _opened(keys) as opened:
            run.signatures = NamedKeys(equipment.kept_keys(opened.read(KEYS_BYTES_MAX), where=keys))

    async def verify(connected: ConnectedInstallation) -> None:
        if run.proof is not None and keys is None:
            await connected.load_secrets()
            run.signatures = PresentKeys(connected.installation.tokens, clocks.now())
        await run.verify_database(connected.installation.database, organization)

    if file is None:
        with_installation(settings, verify)
    else:
        with _opened(file) as opened:
            trio.run(run.verify_file, opened)
    for sentence in run.summary():
        report(sentence)
    return 1 if run.broken else 0


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise CannotStart(f"{name} cannot be read: {error.strerror}.") from None


def with_installation(settings: Settings, run: Callable[[ConnectedInstallation], Awaitable[None]]) -> None:
    """Run a command on a connected installation without actors; its schema has to be up to date."""
    with database.address_of(settings) as address:
        database.require_schema(address)
        trio.run(partial(_connected, settings, address, run))


async def _connected(
    settings: Settings, address: Secret, run: Callable[[ConnectedInstallation], Awaitable[None]]
) -> None:
    async with main.connected(settings, address) as connected:
        await run(connected)
