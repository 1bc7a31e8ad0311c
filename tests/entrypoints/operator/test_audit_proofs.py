"""`gatehouse audit verify` compares a log with a proof that was kept, and checks who signed it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, KeptKeys, SigningKeyRing
from adapters.postgres.database import PostgresDatabase
from core.audit.chain import written
from entrypoints import equipment
from entrypoints.operator.audit_verification import (
    NOT_CHECKED,
    KeptProof,
    NamedKeys,
    PresentKeys,
)
from entrypoints.refusals import CannotStart
from tests.audit_chains import OK, add_entry, export_of, seal_all
from tests.clock import SettableClock
from tests.entrypoints.operator.audit_verifications import forged, in_database, in_file, proof_of, published_keys
from tests.world.builder import Builder
from tests.world.team import Team

Transact = Callable[..., Any]


class TestAgainstAProof:
    """Comparing a log with a proof that was kept."""

    async def rewrite(self, team: Team, transact: Transact) -> None:
        """Remove the last entry and compute everything anew."""
        connection = team.world.connection
        connection.execute("DELETE FROM audit_entries WHERE position = 5")
        connection.execute("DELETE FROM audit_seals")
        connection.execute("DELETE FROM audit_chains")
        connection.execute("UPDATE audit_entries SET position = NULL")
        seal_all(transact)

    async def test_a_log_that_grew_since_verifies(
        self, team: Team, clock: SettableClock, transact: Transact, database: PostgresDatabase
    ) -> None:
        proof = await proof_of(team)
        add_entry(team.world.connection, team.organization_id, clock)
        seal_all(transact)

        assert "Verified 6 entries" in (await in_database(database, proof=proof))[0]
        assert "Verified 6 entries" in (await in_file(await export_of(team), proof))[0]

    async def test_a_log_that_was_rewritten_since_does_not_verify(
        self, team: Team, transact: Transact, database: PostgresDatabase
    ) -> None:
        proof = await proof_of(team)
        await self.rewrite(team, transact)
        assert "Verified 4 entries" in (await in_database(database))[0]

        assert "Entry 5 was removed" in (await in_database(database, proof=proof))[0]
        assert "Entry 5 was removed" in (await in_file(await export_of(team), proof))[0]

    async def test_the_proof_of_another_organization_is_refused(
        self, team: Team, builder: Builder, database: PostgresDatabase
    ) -> None:
        other = Team(team.world, builder.organization("bolt"), "bolt")
        other.add("boss", "owner")
        answer = await other.request("boss", "GET", "/audit-log/proof")
        proof = KeptProof.parse(answer.content, where="the answer")

        with pytest.raises(CannotStart, match="of another organization"):
            await in_database(database, "acme", proof=proof)
        with pytest.raises(CannotStart, match="of another organization"):
            await in_file(await export_of(team), proof)

    async def test_a_proof_is_checked_by_its_signature(
        self, team: Team, clock: SettableClock, database: PostgresDatabase
    ) -> None:
        signatures = PresentKeys(team.world.installation.tokens, clock())
        proof = await proof_of(team)

        assert await in_database(database, proof=proof, signatures=signatures) == [OK]
        with pytest.raises(CannotStart, match="The signature of the proof is wrong: this installation did not"):
            await in_database(database, proof=forged(proof), signatures=signatures)

    async def test_a_proof_whose_key_is_gone_is_compared_all_the_same(
        self, team: Team, clock: SettableClock, database: PostgresDatabase
    ) -> None:
        without_keys = JwtTokenSigner(SigningKeyRing(), issuer="http://localhost:8000", randomness=SystemRandomness())
        proof = await proof_of(team)

        summary = await in_database(database, proof=proof, signatures=PresentKeys(without_keys, clock()))

        assert summary[0] == OK
        assert summary[1].startswith("The key that signed the proof is no longer published")

    @pytest.mark.parametrize("content", [b"", b"[]", b'{"head": 1}', b'{"head": "a.b.c"}', b'{"head": "a"}', b"\xff"])
    def test_what_is_no_proof_is_refused(self, content: bytes) -> None:
        with pytest.raises(CannotStart, match=r"proof\.json is no proof"):
            KeptProof.parse(content, where="proof.json")


async def test_an_export_is_checked_with_the_published_keys(team: Team) -> None:
    content = await export_of(team)
    proof = await proof_of(team)

    assert await in_file(content, proof, await published_keys(team)) == [OK]
    assert await in_file(content) == [OK, NOT_CHECKED]


async def test_an_export_that_was_made_up_does_not_verify_with_the_published_keys(team: Team) -> None:
    *lines, last = (await export_of(team)).splitlines()
    end = forged(KeptProof.parse(last, where="the last line"))
    content = b"\n".join([*lines, written(json.loads(last) | {"head": end.token})])
    others = NamedKeys(KeptKeys(b'{"keys": []}'))

    for keys in (await published_keys(team), others):
        broken, *_ = await in_file(content, signatures=keys)
        assert broken == (
            "The signature of the proof at the end of the export is wrong: none of the keys of --keys made it."
        )


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"keys": [{}]}', b'{"keys": [{"kid": "1", "kty": "EC"}]}', b'{"keys": 1}', b"\xff"]
)
def test_what_has_no_published_keys_is_refused(content: bytes) -> None:
    with pytest.raises(CannotStart, match=r"jwks\.json has no published keys"):
        equipment.kept_keys(content, where="jwks.json")
