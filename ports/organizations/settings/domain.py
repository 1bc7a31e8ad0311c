"""Storage of custom domains."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.domain_proofs import DomainProof
from core.organizations.settings.domain import DomainClaim
from core.sessions.origins import CustomHost


class CustomDomains(Protocol):
    """The claims of organizations to domains, one each. A transaction that adds or removes one has locked it."""

    def of(self, organization_id: UUID) -> DomainClaim | None:
        """Return the claim of an organization; None when it has none."""
        ...

    def lock(self, organization_id: UUID, claim_id: UUID) -> DomainClaim | None:
        """Return a claim and lock it; None when it was given up."""
        ...

    def add(self, claim: DomainClaim) -> None:
        """Store a claim."""
        ...

    def save(self, organization_id: UUID, claim_id: UUID, proof: DomainProof) -> bool:
        """Store a claim after a check; False when it is verified and another verified claim to the domain exists.

        Concurrent transactions that verify the same domain wait for each other.
        """
        ...

    def count_uses(self, organization_id: UUID, claim_id: UUID, *, at: datetime) -> tuple[int, int]:
        """Return how many live sessions and how many passkeys would end with a claim."""
        ...

    def remove(self, organization_id: UUID, claim_id: UUID) -> None:
        """Delete a claim; end the sessions and delete the passkeys that were made there."""
        ...

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[DomainClaim]:
        """Return verified claims that are due to be checked, and postpone their next check until then."""
        ...

    def host(self, name: str) -> CustomHost | None:
        """Return the custom host of a domain whose proof is in force and whose organization is active; else None."""
        ...

    def verified_domains(self, organization_id: UUID) -> Sequence[str]:
        """List the domains of an organization whose proof is in force."""
        ...
