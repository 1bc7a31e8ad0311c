"""Proofs of domains: a TXT record with a random value that only the owner of a domain can publish.

A proof that disappears is shown as failing, and holds for seven days more. A proof counts for one purpose only: the
custom domain of an organization (`settings/domain.py`) is no proof of a mail domain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LABEL: Final = "_gatehouse"
VALUE_PREFIX: Final = "gatehouse-verification="
# How long a proof that has disappeared still holds.
FAILING_MAX: Final = timedelta(days=7)
CHECK_PERIOD: Final = timedelta(hours=12)
# Sooner than otherwise: the proof is missing, or a name server did not answer.
RECHECK_PERIOD: Final = timedelta(hours=1)
# A name server that is away for less than this proves nothing.
UNANSWERED_MAX: Final = timedelta(days=1)
DOMAIN_CHARACTERS_MAX: Final = 253 - len(LABEL) - 1

_DOMAIN: Final = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")


class ProofStatus(StrEnum):
    """The state of a claim to a domain."""

    PENDING = "pending"
    VERIFIED = "verified"
    FAILING = "failing"


class DomainFinding(Enum):
    """What the name servers of a domain said about its proof."""

    FOUND = "found"
    MISSING = "missing"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainProof:
    """A claim to a domain, and how its proof was last found.

    `proved_at` is when the proof was last found, `verified_at` when the claim was first proved.
    """

    domain: str
    value: str
    status: ProofStatus
    verified_at: datetime | None = None
    proved_at: datetime | None = None
    failing_since: datetime | None = None
    checked_at: datetime | None = None
    next_check_at: datetime | None = None

    @property
    def record_name(self) -> str:
        """The name of the TXT record."""
        return f"{LABEL}.{self.domain}"

    @property
    def ends_at(self) -> datetime | None:
        """When the claim ends unless its proof comes back; None while it is not failing."""
        return self.failing_since + FAILING_MAX if self.failing_since is not None else None

    def is_in_force(self, at: datetime) -> bool:
        """Return whether the domain is the organization's at that time."""
        return self.verified_at is not None and (self.ends_at is None or at < self.ends_at)

    def checked(self, finding: DomainFinding, *, at: datetime) -> DomainProof:
        """Return the claim after its name servers were asked; a claim that has failed for too long is pending again."""
        if finding is DomainFinding.FOUND:
            return replace(
                self,
                status=ProofStatus.VERIFIED,
                verified_at=self.verified_at or at,
                proved_at=at,
                failing_since=None,
                checked_at=at,
                next_check_at=at + CHECK_PERIOD,
            )
        assert self.proved_at is not None, "a claim that was never proved is recorded as missing its proof"
        checked = replace(self, checked_at=at, next_check_at=at + RECHECK_PERIOD)
        if finding is DomainFinding.UNANSWERED and at - self.proved_at < UNANSWERED_MAX:
            return checked
        failing = replace(checked, status=ProofStatus.FAILING, failing_since=self.failing_since or at)
        if failing.is_in_force(at):
            return failing
        return DomainProof(domain=self.domain, value=self.value, status=ProofStatus.PENDING, checked_at=at)


def claim(uow: UnitOfWork, domain: str) -> DomainProof:
    """Return a new claim to a domain with a value of its own, which is not proved yet."""
    return DomainProof(domain=domain, value=VALUE_PREFIX + uow.randomness.token().reveal(), status=ProofStatus.PENDING)


def finding(proof: DomainProof, records: Sequence[str] | None) -> DomainFinding:
    """Return what TXT records say about a proof; None stands for name servers that did not answer."""
    if records is None:
        return DomainFinding.UNANSWERED
    return DomainFinding.FOUND if proof.value in records else DomainFinding.MISSING


def checked_domain(uow: UnitOfWork, text: str, *, field: str = "domain") -> str:
    """Return the ASCII form of a domain in lower case; raise `BadRequest` for the field when it is none."""
    domain = text.strip().lower().removesuffix(".")
    if len(domain) <= DOMAIN_CHARACTERS_MAX and (not domain.isascii() or "xn--" in domain):
        domain = uow.domain_names.to_ascii(domain) or ""
    if len(domain) > DOMAIN_CHARACTERS_MAX or not _DOMAIN.fullmatch(domain):
        raise BadRequest.of_field(field, "This is not a domain such as id.example.com.")
    return domain
