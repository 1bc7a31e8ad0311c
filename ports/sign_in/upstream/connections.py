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
        """Return the only connection that is enabled of an active customer of a service; None without one."""
        ...

    def own_side(self, connection_id: UUID) -> OwnSide | None:
        """Return what we are for a connection by SAML, enabled or not, of an active organization; None for others."""
        ...

    def client_of(
        self, organization_id: UUID, connection_id: UUID, issuer: str, *, is_to_be_tested: bool = False
    ) -> ProviderClient | None:
        """Return our credentials at the issuer of an enabled connection; None when it has none, or another issuer now.

        To be tested, it need not be enabled.
        """
        ...

    def add(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        """Store a new connection."""
        ...

    def save(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        """Store the new state of a connection; without a secret the one before stays."""
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
        """Store what the metadata of a connection say that were read again."""
        ...

    def claim_ending_metadata(
        self, *, text_before: datetime, address_before: datetime, limit: int
    ) -> Sequence[EndingMetadata]:
        """Mark metadata of enabled connections that end soon as warned of, and return them.

        Texts count that end before the one time, and metadata at an address that end before the other. Of concurrent
        calls one returns a connection. Organizations that are not active are left out.
        """
        ...

    def is_vouched_for(self, organization_id: UUID, connection_id: UUID, *, at_domain: str) -> bool:
        """Return whether a mail domain that counts leads to a connection which links own accounts at once."""
        ...

    def save_vouched_for(self, organization_id: UUID, connection_id: UUID, *, is_vouched_for: bool) -> bool:
        """Store whether a connection links own accounts at once; return whether it did otherwise before."""
        ...

    def takes_certificates(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether somebody has signed in by a connection since its metadata are read from their address.

        False where the address was set by someone who does not vouch for new certificates there.
        """
        ...

    def save_taking(self, organization_id: UUID, connection_id: UUID, *, takes_certificates: bool) -> None:
        """Store whether new certificates at the address of the metadata of a connection are taken over."""
        ...

    def with_published_metadata(self, after: UUID | None, limit: int) -> Sequence[PublishedMetadata]:
        """Return enabled connections of active organizations whose metadata are at an address, in the order of ids.

        Those after an id; None for the first ones.
        """
        ...

    def were_on(self, organization_id: UUID) -> frozenset[UUID]:
        """Return the connections of an organization that were ever switched on."""
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
        """Forget which groups a connection has asserted."""
        ...

    def unlink_all(self, organization_id: UUID, connection_id: UUID) -> int:
        """Delete the identities of a connection, and the sign-ins by it that are under way; return how many."""
        ...

    def remove(self, organization_id: UUID, connection_id: UUID) -> None:
        """Delete a connection with its identities, its domain routes and the sign-ins by it that are under way."""
        ...

    def begin_setup(self, internal_id: UUID, connection_id: UUID, state: str, made_through: MadeThrough | None) -> None:
        """Store how far the vendor was told that a new connection is, which it made for a customer, and how."""
        ...

    def await_trial(self, organization_id: UUID, connection_id: UUID) -> None:
        """Store that a connection was adopted, so that it is to be tested before it is switched on."""
        ...

    def awaits_trial(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether a connection was adopted, and was not switched on since."""
        ...

    def change_setup(self, organization_id: UUID, connection_id: UUID, state: str) -> bool:
        """Store how far the vendor is told that a connection is; False for one in that state, and one of no vendor."""
        ...
