"""Storage of what was made with the power of a takeover."""

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
        """Delete workloads that they have made."""
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
        """Deactivate the webhooks, also those that lead elsewhere since, and store why."""
        ...

    def switch_streams_off(self, acting: Sequence[Acting], reason: str) -> Sequence[MadeThing]:
        """Switch the streams to SIEMs off that were set up or changed since, and store why."""
        ...

    def set_up_customers(self, acting: Sequence[Acting], *, after: UUID | None, limit: int) -> Sequence[SetUpCustomer]:
        """Return for which customers they have made something as vendors, in the order of the internal organizations.

        `after` is the internal organization of the last row that was read before; None for the first rows.
        """
        ...

    def switch_connections_off(self, acting: Sequence[Acting], reason: str) -> Sequence[MadeThing]:
        """Switch the upstream connections off that were made or changed since, and store why.

        The identities that were linked by them since are deleted.
        """
        ...

    def take_back_places(self, acting: Sequence[Acting], *, limit: int) -> Sequence[TakenBackPlace]:
        """Take those out of groups again whom SCIM tokens have put in, and put those back whom they took out.

        The first thing that they did to a member counts. The next call takes what is left.
        """
        ...

    def made_links(self, acting: Sequence[Acting], *, limit: int) -> Sequence[MadeLink]:
        """Return links to services that API keys have made, by organization and service."""
        ...

    def end_made_links(self, organization_id: UUID, service_id: UUID, user_ids: Sequence[UUID]) -> None:
        """Delete the links of these users to a service that a key has made, and forget that it has made them."""
        ...
