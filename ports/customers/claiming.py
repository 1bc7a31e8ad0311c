"""Storage of the links by which people become owners of the organizations that vendors have made for customers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.customers.claiming import ClaimLink, MadeThings, NamedOwner
from core.customers.relations import Relation
from core.services.services import Service


class CustomerClaims(Protocol):
    """The latest claim link of each customer that a vendor has made."""

    def put(self, service: Service, customer_id: UUID, owner: NamedOwner, *, token_hash: bytes) -> None:
        """Store the link of a customer, replacing an earlier one."""
        ...

    def named(self, service: Service, customer_id: UUID) -> NamedOwner | None:
        """Return the person that the latest link of a customer was mailed to; None without a link."""
        ...

    def by_token(self, token_hash: bytes, *, at: datetime) -> ClaimLink | None:
        """Return a link that has not expired, of an unclaimed customer or of one that was claimed by it; else None.

        None also when the customer has ended, or its organization or vendor is neither pending nor active.
        """
        ...

    def settle(self, relation: Relation, *, name: str, slug: str, parts: Sequence[str]) -> bool:
        """Give the locked organization of a customer its owner's name and slug, and mark it and its link as claimed.

        Return False when the slug is taken, also by a concurrent transaction.
        """
        ...

    def withdraw(self, service: Service, customer_id: UUID, *, made_since: datetime) -> bool:
        """Delete the open link of a customer if it was mailed since a moment; return False when there is none."""
        ...

    def mail_domains(self, customer_id: UUID) -> Sequence[str]:
        """Return the mail domains that are proved for a customer."""
        ...

    def made_for(self, customer_id: UUID) -> MadeThings:
        """Count what the vendor has made for a customer."""
        ...

    def end_setup_links(self, customer_id: UUID, parts: Sequence[str]) -> int:
        """Delete the setup links to any of these parts that the vendor has made for a customer; return how many."""
        ...

    def replace_scim_tokens(self, customer_id: UUID) -> None:
        """Replace the SCIM tokens that the vendor has made for a customer by random ones that are shown to no one."""
        ...
