"""The command `gatehouse audit verify`: its arguments, what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import trio

from adapters.postgres.driver.connection import Connection
from tests.audit_chains import OK, export_of
from tests.processes import CommandsHere
from tests.world.team import Team


def test_the_command_exits_with_0_for_logs_that_verify_and_with_1_for_others(
    commands_here: CommandsHere, acme: UUID, connection: Connection
) -> None:
    verified = commands_here.run("audit", "verify", "acme")
    connection.execute("DELETE FROM audit_entries WHERE position = 2")
    broken = commands_here.run("audit", "verify")

    assert (verified.returncode, verified.stdout) == (0, f"{OK}\n")
    assert broken.returncode == 1
    assert broken.stdout.startswith("acme: Entry 2 was removed: entry 3 follows entry 1.\n")


async def test_the_command_checks_an_export_and_a_proof_with_kept_keys(
    commands_here: CommandsHere, team: Team, tmp_path: Path
) -> None:
    export, proof, keys = (tmp_path / name for name in ("export.jsonl", "proof.json", "jwks.json"))
    export.write_bytes(await export_of(team))
    proof.write_bytes((await team.request("admin", "GET", "/audit-log/proof")).content)
    keys.write_bytes((await team.world.client.get("/.well-known/jwks.json")).content)

    verified = await trio.to_thread.run_sync(
        commands_here.run, "audit", "verify", "--file", str(export), "--proof", str(proof), "--keys", str(keys)
    )

    assert (verified.returncode, verified.stdout) == (0, f"{OK}\n"), verified.stderr


def test_the_command_reads_an_export_without_a_database(commands_here: CommandsHere, tmp_path: Path) -> None:
    (tmp_path / "export.jsonl").write_bytes(b"")

    broken = commands_here.run(
        "audit", "verify", "--file", str(tmp_path / "export.jsonl"), DATABASE_URL="postgresql://x"
    )
    missing = commands_here.run("audit", "verify", "--file", "nothing.jsonl")

    assert broken.returncode == 1
    assert "The export ends after entry 0 without its proof, so it is incomplete.\n" in broken.stdout
    assert (missing.returncode, missing.stderr) == (
        1,
        "gatehouse: nothing.jsonl cannot be read: No such file or directory.\n",
    )


def test_the_command_refuses_a_proof_that_another_installation_signed(
    commands_here: CommandsHere, acme: UUID, tmp_path: Path
) -> None:
    (tmp_path / "proof.json").write_text(json.dumps({"head": "e30.e30.e30"}))

    refused = commands_here.run("audit", "verify", "--proof", str(tmp_path / "proof.json"))

    assert refused.returncode == 1
    assert refused.stderr.endswith("is no proof. A proof is the answer of `GET …/audit-log/proof`.\n")
