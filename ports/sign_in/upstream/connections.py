"""Storage of upstream connections."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.internal_places import MadeThrough
from core.secrets import Secret
from core.sign_in.upstream.changes import PublishedMetadata
from core.sign_in.upstream.connections import ConnectionRecord
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.metadata_validity import EndingMetadata
from core.sign_in.upstream.saml import OwnSide


class UpstreamConnections(Protocol):
    """The connections of organizations; the secrets are encrypted, and read only where they are needed."""

    def of_organization(self, organization_id: UUID) -> Sequence[ConnectionRecord]:
        """List the connections of an organization, the oldest first."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Return the number of connections of an organization."""
        ...

    def find(self, organization_id: UUID, connection_id: UUID) -> ConnectionRecord | None:
        """Return a connection; None when the organization has none with that id."""
        ...

    def only_of_customer(self, vendor_id: UUID, service_id: UUID, customer_id: UUID) -> UUID | None:
        """Return the only enabled connection of an active customer of a service; None when there is not exactly one."""
        ...

    def own_side(self, connection_id: UUID) -> OwnSide | None:
        """Return Gatehouse's own side of a SAML connection, enabled or not, of an active organization; else None."""
        ...

    def client_of(
        self, organization_id: UUID, connection_id: UUID, issuer: str, *, is_to_be_tested: bool = False
    ) -> ProviderClient | None:
        """Return our credentials at the issuer of an enabled connection; None when it has none, or another issuer now.

        With `is_to_be_tested` it need not be enabled.
        """
        ...

    def add(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        """Store a new connection."""
        ...

    def save(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        """Store the new state of a connection; without a secret the present one stays."""
        ...

    def certificates_of(self, organization_id: UUID, connection_id: UUID) -> frozenset[str] | None:
        """Return the SHA-256 of the certificates by which assertions are verified; None while they are not known."""
        ...

    def save_certificates(self, organization_id: UUID, connection_id: UUID, certificates: frozenset[str]) -> None:
        """Store the SHA-256 of the certificates by which assertions are verified from now on."""
        ...

    def save_described(
        self, organization_id: UUID, connection_id: UUID, *, valid_until: datetime | None, signs_requests: bool
    ) -> None:
        """Store the data from the metadata of a connection after they were read again."""
        ...

    def claim_ending_metadata(
        self, *, text_before: datetime, address_before: datetime, limit: int
    ) -> Sequence[EndingMetadata]:
        """Return metadata of enabled connections that end soon, and mark them as warned about.

        Metadata given as a text end soon before `text_before`, metadata at an address before `address_before`. Of
        concurrent calls one returns a connection. Organizations that are not active are left out.
        """
        ...

    def is_vouched_for(self, organization_id: UUID, connection_id: UUID, *, at_domain: str) -> bool:
        """Return whether a mail domain in force leads to a connection that links its own accounts at once."""
        ...

    def save_vouched_for(self, organization_id: UUID, connection_id: UUID, *, is_vouched_for: bool) -> bool:
        """Store whether a connection links its organization's own accounts at once; return whether that is a change."""
        ...

    def takes_certificates(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether new certificates at the address of a connection's metadata are taken over.

        That needs a sign-in by the connection since the address was set, by a person who vouches for what it publishes.
        """
        ...

    def save_taking(self, organization_id: UUID, connection_id: UUID, *, takes_certificates: bool) -> None:
        """Store whether new certificates at the address of the metadata of a connection are taken over."""
        ...

    def with_published_metadata(self, after: UUID | None, limit: int) -> Sequence[PublishedMetadata]:
        """Return enabled connections of active organizations whose metadata are at an address, by id.

        They are the ones after an id; None for the first ones.
        """
        ...

    def were_on(self, organization_id: UUID) -> frozenset[UUID]:
        """Return the connections of an organization that were ever enabled."""
        ...

    def has_identities(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether any identity of a connection is linked."""
        ...

    def have_identities(self, organization_id: UUID) -> bool:
        """Return whether any identity of any connection of the organization is linked."""
        ...

    def count_uses(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> tuple[int, int]:
        """Return how many identities of a connection are linked, and how many of its sessions are alive."""
        ...

    def count_without_other_way(self, organization_id: UUID, connection_id: UUID) -> int:
        """Return how many accounts of a connection have no password, no passkey and no other provider."""
        ...

    def forget_groups(self, organization_id: UUID, connection_id: UUID) -> None:
        """Delete the groups that a connection has asserted."""
        ...

    def unlink_all(self, organization_id: UUID, connection_id: UUID) -> int:
        """Delete the identities of a connection, and the sign-ins by it that are under way; return how many."""
        ...

    def remove(self, organization_id: UUID, connection_id: UUID) -> None:
        """Delete a connection with its identities, its domain routes and the sign-ins by it that are under way."""
        ...

    def begin_setup(self, internal_id: UUID, connection_id: UUID, state: str, made_through: MadeThrough | None) -> None:
        """Store the setup state of a new connection that a vendor made for a customer, and how it was made.

        It is the state that the vendor was told last.
        """
        ...

    def await_trial(self, organization_id: UUID, connection_id: UUID) -> None:
        """Record that a connection was adopted, and must be tested before it is enabled."""
        ...

    def awaits_trial(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether a connection was adopted, and was not enabled since."""
        ...

    def change_setup(self, organization_id: UUID, connection_id: UUID, state: str) -> bool:
        """Store the state of a connection that its vendor is told; False when it is the same, or no vendor made it."""
        ...
