"""Storage of connections to external providers: their keys, and the domains that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.single_sign_on import RequiredConnection
from core.deferred import Deferred
from core.key_certificates import Ending, SamlCertificate, SamlSigningKey
from core.organizations.organizations import MadeThrough
from core.secrets import Secret
from core.sign_in.upstream.connections.changes import PublishedMetadata
from core.sign_in.upstream.connections.connections import ConnectionRecord
from core.sign_in.upstream.domains.domain_routes import OpenRoute, RouteClaim
from core.sign_in.upstream.flows import ProviderClient
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

    def claim_ending_metadata(self, *, text_before: datetime, address_before: datetime, limit: int) -> Sequence[Ending]:
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


class KeyCertificates(Protocol):
    """Keys with their certificates, of connections or of services; the private keys are sealed in the database.

    They end with their owner. Where an organization is named beside it, it has to be the owner's.
    """

    def active(self, organization_id: UUID, owner_id: UUID) -> SamlCertificate | None:
        """Return the active certificate; None without one."""
        ...

    def published(self, organization_id: UUID, owner_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        """List the certificates that our metadata contain, the active one first, then the newest first."""
        ...

    def defer_signing_key(self, organization_id: UUID, owner_id: UUID) -> Deferred[SamlSigningKey | None]:
        """Return the deferred active key; None without one."""
        ...

    def published_keys(self, organization_id: UUID, owner_id: UUID, *, at: datetime) -> Sequence[SamlSigningKey]:
        """Return the keys whose certificates are published, in the order of `published`."""
        ...

    def replace_active(
        self,
        organization_id: UUID,
        owner_id: UUID,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        """Store the new active key of a locked owner; the previous one is published until that time.

        Keys that are no longer published are deleted.
        """
        ...

    def deactivate_all(self, organization_id: UUID, owner_id: UUID) -> None:
        """Deactivate all certificates; metadata contain none of them any more."""
        ...

    def claim_ending(self, *, before: datetime, at: datetime, limit: int) -> Sequence[Ending]:
        """Return active certificates of enabled owners that end before a time, and mark them as warned about.

        Of concurrent calls one returns a certificate. Organizations that are not active are left out.
        """
        ...


class DomainRoutes(Protocol):
    """The claims of organizations to mail domains, and where their addresses sign in."""

    def of_organization(self, organization_id: UUID) -> Sequence[RouteClaim]:
        """List the claims of an organization by their domains."""
        ...

    def lock(self, organization_id: UUID, route_id: UUID) -> RouteClaim | None:
        """Return a claim and lock it; None when it was given up."""
        ...

    def add(self, claim: RouteClaim, made_through: MadeThrough | None = None) -> bool:
        """Store a claim, and how a vendor made it for a customer; False when the organization has one to the domain."""
        ...

    def save(self, claim: RouteClaim) -> None:
        """Store the connection of a locked claim, and whether it is enforced."""
        ...

    def save_proof(self, claim: RouteClaim) -> bool:
        """Store a claim after a check; False when it is verified and another verified claim to the domain exists.

        Concurrent transactions that verify the same domain wait for each other.
        """
        ...

    def remove(self, organization_id: UUID, route_id: UUID) -> bool:
        """Delete a claim; False when there is none."""
        ...

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[RouteClaim]:
        """Return verified claims that are due to be checked, and postpone their next check until then."""
        ...

    def is_own_domain(self, organization_id: UUID, domain: str) -> bool:
        """Return whether the organization has proved a mail domain, and the proof is in force."""
        ...

    def proved_for_customers(self, domain: str, *, limit: int) -> Sequence[UUID]:
        """Return the internal organizations for which vendors have proved a mail domain, the first proof first."""
        ...

    def is_enforced(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether a route enforces a connection, also while its domain is not proved."""
        ...

    def enforced_to(self, organization_id: UUID, connection_id: UUID) -> Sequence[RouteClaim]:
        """Lock and list the claims in force that enforce a connection."""
        ...

    def open_route(self, domain: str) -> OpenRoute | None:
        """Return the route of a domain that is in force; None when it has none."""
        ...

    def made_route(
        self, domain: str, vendor_slug: str, service_slug: str, *, moved_before: datetime
    ) -> OpenRoute | None:
        """Return the route that a vendor has made for a customer of its service, with the vendor as its organization.

        None when another organization has proved the domain for itself before `moved_before`.
        """
        ...

    def is_of_customer(self, organization_slug: str, vendor_slug: str, service_slug: str) -> bool | None:
        """Return whether an organization is an active customer of a service, and does not hide it.

        None stands for a service without customers, and for one that does not exist.
        """
        ...

    def defer_enforced_on(
        self, user_id: UUID, browser_hash: bytes | None = None
    ) -> Deferred[RequiredConnection | None]:
        """Return the connection that a route in force enforces on a user; None for the owner of its organization.

        The result says whether the browser has brought an identity of the connection that waits to be linked to the
        user. The route is locked until this transaction ends, so that an enforcement meanwhile ends the session that
        this transaction begins.
        """
        ...
