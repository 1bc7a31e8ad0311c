"""Runs of `gatehouse audit verify`, and what they compare with, for the tests in this folder."""

from __future__ import annotations

import io
from dataclasses import replace

from adapters.crypto.tokens import KeptKeys
from adapters.postgres.database import PostgresDatabase
from entrypoints.operator.audit_verification import (
    AuditVerification,
    KeptProof,
    NamedKeys,
    SignatureCheck,
)
from tests.world.team import Team


async def in_database(
    database: PostgresDatabase,
    slug: str | None = None,
    proof: KeptProof | None = None,
    signatures: SignatureCheck | None = None,
) -> list[str]:
    """Verify the logs in the database, and return the summary."""
    run = AuditVerification(io.StringIO(), proof, signatures)
    await run.verify_database(database, slug)
    return run.summary()


async def in_file(
    content: bytes, proof: KeptProof | None = None, signatures: SignatureCheck | None = None
) -> list[str]:
    """Verify an export, and return the summary."""
    run = AuditVerification(io.StringIO(), proof, signatures)
    await run.verify_file(io.BytesIO(content))
    return run.summary()


async def proof_of(team: Team) -> KeptProof:
    return KeptProof.parse((await team.request("admin", "GET", "/audit-log/proof")).content, where="the answer")


async def published_keys(team: Team) -> NamedKeys:
    return NamedKeys(KeptKeys((await team.world.client.get("/.well-known/jwks.json")).content))


def forged(proof: KeptProof) -> KeptProof:
    """Return the same proof with another signature."""
    header, payload, signature = proof.token.split(".")
    return replace(proof, token=f"{header}.{payload}.{signature[::-1]}")
