"""Storage of the rules by which groups of a customer's people give roles of the vendor's service."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.group_rules import CustomerGroupRule
from core.organizations.internal_places import MadeThrough


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
