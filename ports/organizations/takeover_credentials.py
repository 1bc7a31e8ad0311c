"""Ending what was made with the power of a takeover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.organizations.takeover_acts import MadeLink, TakenBackPlace
    from core.organizations.takeovers import Acting, MadeThing, SetUpCustomer


class TakeoverCredentials(Protocol):
    """What users made since they acted with the power of a takeover; each method returns what it has ended."""

    def withdraw_invitations(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Withdraw the open invitations."""
        ...

    def withdraw_setup_links(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the setup links."""
        ...

    def withdraw_organization_keys(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the keys of organizations."""
        ...

    def withdraw_api_keys(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the API keys of services."""
        ...

    def withdraw_workloads(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the workloads."""
        ...

    def withdraw_scim_tokens(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the SCIM tokens."""
        ...

    def withdraw_group_rules(self, acting: Sequence[Acting]) -> Sequence[MadeThing]:
        """Delete the rules by which groups give roles."""
        ...

    def replace_client_secrets(self, acting: Sequence[Acting], secret_hash: bytes) -> Sequence[MadeThing]:
        """Store another hash for the secrets of services, and keep none that was replaced since."""
        ...

    def switch_webhooks_off(self, acting: Sequence[Acting], reason: str) -> Sequence[MadeThing]:
        """Deactivate the webhooks that were made or whose address was changed since, and store why."""
        ...

    def switch_streams_off(self, acting: Sequence[Acting], reason: str) -> Sequence[MadeThing]:
        """Switch off the streams to SIEMs that were set up or changed since, and store why."""
        ...

    def set_up_customers(self, acting: Sequence[Acting], *, after: UUID | None, limit: int) -> Sequence[SetUpCustomer]:
        """Return the customers for which they have made something as vendors, by their internal organizations.

        `after` is the internal organization of the last row that was read before; None for the first rows.
        """
        ...

    def switch_connections_off(self, acting: Sequence[Acting], reason: str) -> Sequence[MadeThing]:
        """Switch off the upstream connections that were made or changed since, and store why.

        The identities that they linked since are deleted.
        """
        ...

    def take_back_places(self, acting: Sequence[Acting], *, limit: int) -> Sequence[TakenBackPlace]:
        """Undo what SCIM tokens did to groups: remove the members that they added, and add those that they removed.

        For each member the first change counts. At most `limit` are undone; the next call continues.
        """
        ...

    def made_links(self, acting: Sequence[Acting], *, limit: int) -> Sequence[MadeLink]:
        """Return the links to services that API keys have made, by organization and service."""
        ...

    def end_made_links(self, organization_id: UUID, service_id: UUID, user_ids: Sequence[UUID]) -> None:
        """Delete the links of these users to a service that a key has made, and forget that it has made them."""
        ...
