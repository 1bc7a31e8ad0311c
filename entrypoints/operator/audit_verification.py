"""`gatehouse audit verify`: checks the hash chains of audit logs, in the database or in an export.

`core/audit/chain_verification.py` decides what fits. A log of millions of entries is read in parts, and the progress is
reported.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TextIO, cast

import trio

from core.audit import chain
from core.audit.chain import OrganizationChain, OutsideEntry
from core.audit.chain_verification import ChainBroken, ChainVerifier, KeptHead, wrong_field_of_proof
from core.errors import TokenInvalid
from core.lazy_dataclasses import dataclass
from core.sessions.tokens import SigningKeyUnknown, TokenKind
from entrypoints.progress import Progress, share_of, size_of
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from ports.database import Database
    from ports.sessions.tokens import SignatureVerifier, TokenSigner

BATCH_LINES: Final = 500
LINE_BYTES_MAX: Final = 16 * 2**20
NOT_CHECKED: Final = (
    "Signatures were not checked. Name the published keys (`/.well-known/jwks.json`, in a file) with --keys: without"
    " them, an export that was made up as a whole verifies."
)


class ProofChanged(CannotStart):
    """The plain fields of a proof differ from its signed head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProof:
    """A proof that was kept: the organization, and the head that it names."""

    organization_id: str
    head: KeptHead
    token: str

    @classmethod
    def parse(cls, text: bytes, *, where: str) -> KeptProof:
        """Read the answer of `audit-log/proof`, or the last line of an export.

        Raise `CannotStart` for anything else, `ProofChanged` when its plain fields do not fit its head.
        """
        try:
            fields = json.loads(text)
            token = fields["head"]
            payload = token.split(".")[1]
            claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
            head = KeptHead(position=int(claims["position"]), hash=str(claims["hash"]))
            wrong = wrong_field_of_proof(fields, claims)
            proof = cls(organization_id=str(claims["sub"]), head=head, token=token)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise CannotStart(f"{where} is no proof. A proof is the answer of `GET …/audit-log/proof`.") from None
        if wrong is not None:
            raise ProofChanged(f"{where} was changed: its signed head says something else than `{wrong}`.")
        return proof


class SignatureCheck(Protocol):
    """Checks that a proof was signed by Gatehouse."""

    def problem_of(self, proof: KeptProof) -> str | None:
        """Return why the signature was not checked; None when it is valid. Raise `SignatureWrong` when it is not."""
        ...


class SignatureWrong(Exception):
    """The proof was not signed by the keys that it was checked with."""


@dataclass(frozen=True, slots=True)
class PresentKeys:
    """The keys that the installation publishes now; a proof may be older than they are."""

    tokens: TokenSigner
    now: datetime

    def problem_of(self, proof: KeptProof) -> str | None:
        try:
            self.tokens.verify(proof.token, kind=TokenKind.AUDIT_HEAD, now=self.now)
        except SigningKeyUnknown:
            return (
                "The key that signed the proof is no longer published, so its signature was not checked. Name the"
                " published keys of that time with --keys."
            )
        except TokenInvalid:
            raise SignatureWrong("this installation did not make it") from None
        return None


@dataclass(frozen=True, slots=True)
class NamedKeys:
    """The keys in a file that the operator named, which must contain the one that signed."""

    keys: SignatureVerifier

    def problem_of(self, proof: KeptProof) -> None:
        try:
            self.keys.verify_signature(proof.token, kind=TokenKind.AUDIT_HEAD)
        except TokenInvalid:
            raise SignatureWrong("none of the keys of --keys made it") from None


@dataclass
class AuditVerification:
    """One run of the command, with its counts."""

    out: TextIO
    proof: KeptProof | None = None
    signatures: SignatureCheck | None = None
    seconds: Callable[[], float] = time.monotonic

    logs: int = 0
    entries: int = 0
    anonymized_fields: int = 0
    broken: list[str] = field(default_factory=list[str])
    _organizations: set[str] = field(default_factory=set[str])
    remarks: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        self._progress = Progress(self.out, self.seconds)
        self._entries_total = 0

    async def verify_database(self, database: Database, slug: str | None) -> None:
        """Verify the log of the organization with this slug, or all logs."""
        self._require_signature_of_proof()
        found = await database.read(chain.chains, slug)
        if slug is not None and not found:
            raise CannotStart(f"There is no organization {slug}.")
        if self.proof is not None and self.proof.organization_id not in {str(one.end.organization_id) for one in found}:
            raise CannotStart("The proof is of another organization.")
        self._entries_total = sum(one.end.sealed_through for one in found)
        with self._progress:
            for one in found:
                try:
                    await self._verify_chain(database, one)
                except ChainBroken as broken:
                    # An organization that was deleted meanwhile no longer has a log.
                    if await database.read(chain.chains, one.slug):
                        self._record(f"{one.slug}: {broken}")

    async def verify_file(self, file: BinaryIO) -> None:
        """Verify an export."""
        self._require_signature_of_proof()
        verifier = self._verifier(self.proof)
        previous = b""
        bytes_read, bytes_total = 0, size_of(file)
        try:
            with self._progress:
                while lines := await trio.to_thread.run_sync(self._next_lines, file, abandon_on_cancel=True):
                    # The last line is the proof, and is known as the last one when no other follows.
                    for line in [previous, *lines[:-1]]:
                        self._check_line(verifier, line)
                    previous = lines[-1]
                    bytes_read += sum(len(line) for line in lines)
                    self._progress.show(verifier.position, "entries", share=share_of(bytes_read, bytes_total))
            end = self._end_of_file(verifier, previous)
            verifier.finish(end.head)
            self._check_signature(end)
        except SignatureWrong as wrong:
            self._record(f"The signature of the proof at the end of the export is wrong: {wrong}.")
        except ChainBroken as broken:
            self._record(str(broken))
        self._count(verifier)

    def summary(self) -> list[str]:
        """Return the lines that summarize the run."""
        sentences = list(self.broken)
        checked = f"{_counted(self.entries, 'entry', 'entries')} of {_counted(self.logs, 'log', 'logs')}"
        if self.broken:
            sentences.append(f"Checked {checked}. {len(self.broken)} did not verify: see the runbook audit-log.md.")
        else:
            sentences.append(f"Verified {checked}: nothing was changed, removed or put in between.")
        if self.anonymized_fields:
            sentences.append(f"Anonymized fields, whose values are no longer covered: {self.anonymized_fields:,}.")
        return [*sentences, *self.remarks]

    async def _verify_chain(self, database: Database, found: OrganizationChain) -> None:
        end = found.end
        is_proved = self.proof is not None and self.proof.organization_id == str(end.organization_id)
        verifier = self._verifier(self.proof if is_proved else None)
        try:
            while page := await database.read(chain.page, end, verifier.position):
                after = verifier.position
                for sealed in page:
                    verifier.check(chain.line_of(sealed))
                _require_inside(
                    await database.read(chain.first_misplaced, end.organization_id, after, verifier.position)
                )
                done = self.entries + verifier.position
                self._progress.show(done, "entries", total=self._entries_total, context=f"{found.slug}: ")
            verifier.finish(KeptHead(position=end.sealed_through, hash=end.hash))
            _require_inside(await database.read(chain.first_outside, end.organization_id))
        finally:
            self._count(verifier)

    def _require_signature_of_proof(self) -> None:
        if self.proof is None:
            return
        try:
            self._check_signature(self.proof)
        except SignatureWrong as wrong:
            raise CannotStart(f"The signature of the proof is wrong: {wrong}.") from None

    def _check_signature(self, proof: KeptProof) -> None:
        problem = NOT_CHECKED if self.signatures is None else self.signatures.problem_of(proof)
        if problem is not None:
            self.remarks[problem] = None

    def _verifier(self, proof: KeptProof | None) -> ChainVerifier:
        verifier = ChainVerifier()
        if proof is not None:
            verifier.require_kept(proof.head)
        return verifier

    def _check_line(self, verifier: ChainVerifier, line: bytes) -> None:
        if not line:
            return
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise ChainBroken(f"The line after entry {verifier.position} is no entry.")
        entry = cast("dict[str, Any]", fields)
        verifier.check(entry)
        self._organizations.add(str(entry["org_id"]))
        if chain.written(entry) != line:
            raise ChainBroken(f"Entry {verifier.position} was changed: it is not written as an export writes it.")

    def _end_of_file(self, verifier: ChainVerifier, last_line: bytes) -> KeptProof:
        try:
            end = KeptProof.parse(last_line, where="The last line")
        except ProofChanged as changed:
            raise ChainBroken(str(changed)) from None
        except CannotStart:
            raise ChainBroken(
                f"The export ends after entry {verifier.position} without its proof, so it is incomplete."
            ) from None
        # An editor may have removed the end of the last line.
        if chain.written(json.loads(last_line)) not in {last_line, last_line + b"\n"}:
            raise ChainBroken("The last line was changed: it is not written as an export writes it.")
        if self._organizations - {end.organization_id}:
            raise ChainBroken("The last line was changed: it is the proof of another organization.")
        if self.proof is not None and self.proof.organization_id != end.organization_id:
            raise CannotStart("The proof is of another organization.")
        return end

    def _next_lines(self, file: BinaryIO) -> list[bytes]:
        lines = (file.readline(LINE_BYTES_MAX) for _ in range(BATCH_LINES))
        return [line for line in lines if line]

    def _record(self, sentence: str) -> None:
        self.broken.append(sentence)

    def _count(self, verifier: ChainVerifier) -> None:
        self.logs += 1
        self.entries += verifier.position
        self.anonymized_fields += verifier.anonymized_fields


def _require_inside(outside: OutsideEntry | None) -> None:
    """Raise `ChainBroken` for an entry with a position that the chain does not give it."""
    if outside is not None:
        raise ChainBroken(f"Entry {outside.position} ({outside.id}) was put in: the chain does not contain it.")


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
