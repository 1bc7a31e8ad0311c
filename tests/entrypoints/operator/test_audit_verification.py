"""`gatehouse audit verify` names the first entry that does not fit, in the database and in an export."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.audit.chain import EXPORT_ENTRIES_MAX, PROOF_LIFETIME
from core.sessions.tokens import TokenKind
from entrypoints.operator.audit_verification import (
    NOT_CHECKED,
    AuditVerification,
    KeptProof,
    NamedKeys,
)
from entrypoints.progress import REPORT_SECONDS
from entrypoints.refusals import CannotStart
from tests.audit_chains import ENTRIES, OK, add_entry, export_of, seal_all
from tests.clock import SettableClock
from tests.entrypoints.operator.audit_verifications import in_database, in_file, published_keys
from tests.world.builder import Builder
from tests.world.team import Team

Transact = Callable[..., Any]


class TestInTheDatabase:
    """Verifying the tables."""

    async def test_unchanged_logs_verify(
        self, acme: UUID, builder: Builder, clock: SettableClock, transact: Transact, database: PostgresDatabase
    ) -> None:
        add_entry(builder.connection, builder.organization("bolt"), clock)
        builder.organization("cord")
        seal_all(transact)

        assert await in_database(database, "acme") == [OK]
        assert await in_database(database) == [
            "Verified 6 entries of 3 logs: nothing was changed, removed or put in between."
        ]

    @pytest.mark.parametrize(
        ("attack", "sentence"),
        [
            (
                """
                UPDATE audit_entries e SET position = -e.position WHERE position IN (2, 3);
                UPDATE audit_entries e SET position = 5 + position WHERE position < 0;
                """,
                "Entry 2 was removed",
            ),
            ("DELETE FROM audit_entries WHERE position = 1", "Entry 1 was removed"),
            ("DELETE FROM audit_entries WHERE position = 3", "Entry 3 was removed: entry 4 follows entry 2."),
            ("DELETE FROM audit_entries WHERE position = 5", "Entry 5 was removed: the log had 5 entries."),
            (
                "DELETE FROM audit_entries WHERE position = 5; DELETE FROM audit_seals WHERE position = 5",
                "Entry 5 was removed: the log had 5 entries.",
            ),
            ("DELETE FROM audit_seals WHERE position = 2", "Entry 2 was removed"),
            ("DELETE FROM audit_entries", "Entry 1 was removed"),
            ("DELETE FROM audit_chains", "Entry 1 ("),
            (
                """UPDATE audit_entries SET details = '{"n": 9}' WHERE position = 4""",
                "was changed: the field details.n does not fit its digest.",
            ),
            (
                """
                UPDATE audit_entries SET details = '{}' WHERE position = 4;
                UPDATE audit_seals SET digests = digests - 'details.n' WHERE position = 4
                """,
                "was changed: it does not fit its hash.",
            ),
            ("UPDATE audit_entries SET success = false WHERE position = 4", "Entry 4 ("),
            (
                """
                UPDATE audit_entries SET position = -position WHERE position > 2;
                UPDATE audit_entries SET position = 1 - position WHERE position < 0;
                INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                           created_at, position)
                SELECT gen_random_uuid(), organization_id, 'user.joined', 'user', 'x', true, '{}', created_at, 3
                FROM   audit_entries LIMIT 1
                """,
                "Entry 3 was removed",
            ),
            (
                """
                INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                           created_at, position)
                SELECT gen_random_uuid(), organization_id, 'user.joined', 'user', 'x', true, '{}', created_at, 0
                FROM   audit_entries LIMIT 1
                """,
                "was put in: the chain does not contain it.",
            ),
            (
                """
                INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                           created_at, position)
                SELECT gen_random_uuid(), organization_id, 'user.joined', 'user', 'x', true, '{}', created_at, 2
                FROM   audit_entries LIMIT 1
                """,
                "was put in: the chain does not contain it.",
            ),
        ],
        ids=[
            *("two swapped", "first removed", "one removed", "last removed", "last removed with its seal"),
            *("seal removed", "all removed", "chain removed", "detail changed", "detail and digest removed"),
            *("outcome changed", "put in between", "put in before", "put in beside"),
        ],
    )
    async def test_an_attack_names_the_first_entry_that_does_not_fit(
        self, acme: UUID, connection: Connection, database: PostgresDatabase, attack: str, sentence: str
    ) -> None:
        for statement in attack.split(";"):
            if statement.strip():
                connection.execute(statement.encode())

        broken, conclusion = await in_database(database)

        assert broken.startswith("acme: Entry ")
        assert sentence in broken
        assert "1 did not verify: see the runbook audit-log.md." in conclusion

    async def test_a_broken_log_does_not_hide_another_one(
        self, acme: UUID, builder: Builder, clock: SettableClock, transact: Transact, database: PostgresDatabase
    ) -> None:
        bolt = builder.organization("bolt")
        add_entry(builder.connection, bolt, clock)
        seal_all(transact)
        builder.connection.execute("DELETE FROM audit_entries WHERE position = 1")

        summary = await in_database(database)

        assert [line.partition(":")[0] for line in summary[:2]] == ["acme", "bolt"]

    async def test_an_organization_that_does_not_exist_is_refused(self, database: PostgresDatabase) -> None:
        with pytest.raises(CannotStart, match="There is no organization nowhere"):
            await in_database(database, "nowhere")

    async def test_a_long_log_is_read_in_pages_and_its_progress_reported(
        self, acme: UUID, builder: Builder, clock: SettableClock, transact: Transact, database: PostgresDatabase
    ) -> None:
        for number in range(EXPORT_ENTRIES_MAX):
            add_entry(builder.connection, acme, clock, n=number)
        seal_all(transact)
        out, seconds = io.StringIO(), iter(range(0, 1000, int(REPORT_SECONDS)))

        run = AuditVerification(out, seconds=lambda: float(next(seconds)))
        await run.verify_database(database, None)

        assert out.getvalue().splitlines() == [
            "acme: 500 of 505 entries, 99 %, 100 per second, about 0 s left",
            "acme: 505 of 505 entries, 100 %, 50 per second, about 0 s left",
        ]
        assert run.entries == EXPORT_ENTRIES_MAX + ENTRIES


class TestInAnExport:
    """Verifying a file."""

    async def test_an_unchanged_export_verifies(self, team: Team) -> None:
        assert await in_file(await export_of(team)) == [OK, NOT_CHECKED]

    async def test_an_attack_names_the_first_entry_that_does_not_fit(
        self, team: Team, subtests: pytest.Subtests
    ) -> None:
        exported = (await export_of(team)).splitlines(keepends=True)

        for case, attack, sentence in (
            (
                "proof removed",
                lambda lines: lines.pop(),
                "The export ends after entry 4 without its proof, so it is incomplete.",
            ),
            (
                "all removed",
                lambda lines: lines.clear(),
                "The export ends after entry 0 without its proof, so it is incomplete.",
            ),
            ("last removed", lambda lines: lines.pop(4), "Entry 5 was removed"),
            ("one removed", lambda lines: lines.pop(1), "Entry 2 was removed"),
            ("two swapped", lambda lines: lines.insert(2, lines.pop(1)), "Entry 2 was removed"),
            ("copied", lambda lines: lines.insert(2, lines[1]), "was put in between, after entry 2"),
            ("other JSON", lambda lines: lines.insert(2, b"[]\n"), "The line after entry 2 is no entry."),
            ("no JSON", lambda lines: lines.insert(2, b"\xff\n"), "The line after entry 2 is no entry."),
            (
                "changed",
                lambda lines: lines.insert(1, lines.pop(1).replace(b"service.updated", b"service.deleted")),
                "was changed: it does not fit its hash.",
            ),
        ):
            with subtests.test(case):
                lines = list(exported)
                attack(lines)

                broken, *_ = await in_file(b"".join(lines))

                assert sentence in broken

    async def test_an_export_of_several_batches_verifies(
        self, team: Team, builder: Builder, clock: SettableClock, transact: Transact
    ) -> None:
        for number in range(2 * EXPORT_ENTRIES_MAX):
            add_entry(builder.connection, team.organization_id, clock, n=number)
        seal_all(transact)

        summary, _ = await in_file(await export_of(team))

        assert summary.startswith("Verified 1,005 entries of 1 log")


class TestWithOneByteChanged:
    """An export in which any byte was changed, with the published keys."""

    @pytest.fixture
    async def small(self, team: Team, builder: Builder, clock: SettableClock, transact: Transact) -> bytes:
        """An export of two entries, one of them with texts and numbers of every kind."""
        connection = team.world.connection
        for table in ("audit_entries", "audit_seals", "audit_chains"):
            connection.execute(f"DELETE FROM {table}".encode())
        add_entry(
            connection, team.organization_id, clock, text="größer", numbers=[1.5, 20, None, True], nested={"a": "b"}
        )
        add_entry(connection, team.organization_id, clock, ip_address=None)
        seal_all(transact)
        return await export_of(team)

    async def assert_found(self, content: bytes, keys: NamedKeys, changes: Iterable[tuple[int, int]]) -> None:
        """Fail for the changes that a verification does not find."""
        unnoticed: list[bytes] = []
        for position, byte in changes:
            changed = content[:position] + bytes([byte]) + content[position + 1 :]
            if (await in_file(changed, signatures=keys))[0].startswith("Verified"):
                unnoticed.append(changed[max(0, position - 20) : position + 20])
        assert unnoticed == []

    async def test_the_case_and_the_last_bit_of_every_byte_count(self, team: Team, small: bytes) -> None:
        keys = await published_keys(team)
        assert (await in_file(small, signatures=keys))[0].startswith("Verified 2 entries of 1 log")

        await self.assert_found(small, keys, ((at, byte ^ bit) for at, byte in enumerate(small) for bit in (1, 32)))

    @pytest.mark.long
    async def test_every_bit_of_every_byte_counts(self, team: Team, small: bytes) -> None:
        keys = await published_keys(team)

        changes = ((at, byte ^ (1 << bit)) for at, byte in enumerate(small) for bit in range(8))
        await self.assert_found(small, keys, changes)

    async def test_a_line_is_written_in_one_way(self, team: Team, small: bytes, subtests: pytest.Subtests) -> None:
        first, *_ = small.splitlines()
        for case, changed in (
            ("a blank", small.replace(b'"position":1', b'"position": 1')),
            ("an escape", small.replace(b'"action"', b'"\\u0061ction"')),
            ("another end of the line", small.replace(b"\n", b"\r\n")),
            ("a field twice", small.replace(b'"position":1', b'"position":1,"position":1')),
            ("a field of another", small.replace(first, first.replace(b'{"id"', b'{"note":1,"id"'))),
            ("a number of another form", small.replace(b"1.5", b"1.50")),
        ):
            with subtests.test(case):
                assert changed != small
                assert "was changed" in (await in_file(changed))[0]

    async def test_an_export_may_lack_the_end_of_its_last_line(self, small: bytes) -> None:
        assert (await in_file(small.rstrip(b"\n")))[0].startswith("Verified 2 entries")

    async def test_the_plain_fields_of_a_proof_are_those_of_its_head(
        self, team: Team, small: bytes, subtests: pytest.Subtests
    ) -> None:
        proof = json.loads(small.splitlines()[-1])
        for name, value in (("entries", 3), ("sealed_through", 1), ("pending", 1), ("sealed_at", None), ("note", 1)):
            with subtests.test(field=name):
                with pytest.raises(CannotStart, match=f"says something else than `{name}`"):
                    KeptProof.parse(json.dumps(proof | {name: value}).encode(), where="proof.json")
                changed = small.replace(small.splitlines()[-1], json.dumps(proof | {name: value}).encode())
                assert f"`{name}`" in (await in_file(changed))[0]

    async def test_the_proof_of_another_organization_does_not_end_an_export(
        self, team: Team, builder: Builder, small: bytes
    ) -> None:
        head = team.world.installation.tokens.sign(
            {name: value for name, value in claims_of(small).items() if name not in {"exp", "iat", "iss", "jti"}}
            | {"sub": str(builder.organization("bolt"))},
            kind=TokenKind.AUDIT_HEAD,
            lifetime=PROOF_LIFETIME,
            now=team.world.clock(),
        )
        changed = small.replace(json.loads(small.splitlines()[-1])["head"].encode(), head.encode())

        [broken, *_] = await in_file(changed, signatures=await published_keys(team))

        assert broken == "The last line was changed: it is the proof of another organization."


def claims_of(export: bytes) -> dict[str, Any]:
    """Return the claims of the proof of an export."""
    payload = json.loads(export.splitlines()[-1])["head"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
