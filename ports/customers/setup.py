"""What a vendor sets up for a customer: setup links, progress, group rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.group_rules import CustomerGroupRule
from core.customers.setup_links import CustomerSetupLink
from core.customers.setup_progress import CustomerTrouble, MadeSoFar
from core.organizations.organizations import MadeThrough
from core.services.services import Service


class CustomerSetupLinks(Protocol):
    """Setup links to internal organizations; only hashes of their secrets are stored."""

    def of_customer(self, internal_id: UUID) -> Sequence[CustomerSetupLink]:
        """List the valid links to an internal organization, the newest first."""
        ...

    def count_of_vendor(self, vendor_id: UUID) -> int:
        """Count the valid links that a vendor has made for all of its customers."""
        ...

    def add(self, internal_id: UUID, link: CustomerSetupLink, *, secret_hash: bytes) -> None:
        """Store a link."""
        ...

    def remove(self, internal_id: UUID, link_id: UUID) -> CustomerSetupLink | None:
        """Delete a link with its visits and return it; None when the internal organization has no such link."""
        ...


class CustomerSetupProgresses(Protocol):
    """The things that the vendor of a service has made for its customers, in the parts that it may set up."""

    def made(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[MadeSoFar]:
        """Count the things made for each of these customers, without customers that never had any."""
        ...

    def troubles(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[CustomerTrouble]:
        """Return what fails at these customers, the last to begin first."""
        ...


class CustomerGroupRules(Protocol):
    """The rules of customers, by their internal organizations."""

    def of_customer(self, internal_id: UUID) -> Sequence[CustomerGroupRule]:
        """List the rules of a customer, the oldest first, with the roles that its service still has."""
        ...

    def role_names(self, internal_id: UUID) -> Sequence[str]:
        """List the names of the roles of the service."""
        ...

    def add(self, internal_id: UUID, rule: CustomerGroupRule, made_through: MadeThrough | None) -> None:
        """Store a rule, and how the vendor made it."""
        ...

    def save(self, internal_id: UUID, rule: CustomerGroupRule) -> None:
        """Store which roles a rule gives."""
        ...

    def remove(self, internal_id: UUID, rule_id: UUID) -> None:
        """Delete a rule."""
        ...
