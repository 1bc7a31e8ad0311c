"""The export of an audit log with its proof, and the proof alone: the same for programs and for browsers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from core.audit import chain
from core.audit.chain import PROOF_LIFETIME, AuditLogProof, ChainEntry, ChainState
from core.sessions.tokens import TokenKind
from entrypoints.web.serving.answering.answers import encode
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call

JSON_LINES: Final = "application/x-ndjson"


class ExportedAuditEntry(Record, of=ChainEntry):
    """A sealed entry of the audit log, as a line of the export."""

    position: int
    digests: dict[str, str]
    salts: dict[str, str]
    previous_hash: str
    hash: str


async def export_lines(call: Call, slug: str, state: ChainState) -> AsyncIterator[bytes]:
    """Yield the export, a page of entries at a time; no connection to the database is held between two pages."""
    position = 0
    # Each page is authorized anew, so an export ends with the session or the role.
    while page := await call.read(chain.export_page, slug, after=position, through=state.end.sealed_through):
        yield b"".join(chain.written(chain.line_of(sealed)) for sealed in page)
        position = page[-1].seal.position
    yield encode(proof_of(call, state)) + b"\n"


def proof_of(call: Call, state: ChainState) -> AuditLogProof:
    """Return the proof of a log, signed at this moment."""
    installation = call.installation
    return AuditLogProof(
        entries=state.entries,
        sealed_through=state.end.sealed_through,
        pending=state.pending,
        head=installation.tokens.sign(
            chain.head_claims(state, audience=installation.settings.base_url),
            kind=TokenKind.AUDIT_HEAD,
            lifetime=PROOF_LIFETIME,
            now=installation.clock(),
        ),
        sealed_at=state.end.sealed_at,
    )
