"""The unit of work over one connection: the aggregates, made when first asked for, and what every change can leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from adapters.postgres.accounts.user_import import PostgresUserImport
from adapters.postgres.accounts.users import PostgresCredentials, PostgresUsers
from adapters.postgres.audit.analytics import PostgresAnalytics
from adapters.postgres.audit.audit_log import PostgresAuditLog
from adapters.postgres.audit.platform_audit_log import PostgresPlatformAuditLog
from adapters.postgres.credentials.devices import PostgresDevices
from adapters.postgres.credentials.mfa import PostgresBackupCodes, PostgresMfaChallenges, PostgresTotpSecrets
from adapters.postgres.credentials.passkeys import PostgresPasskeyChallenges, PostgresPasskeys
from adapters.postgres.driver.kept_property import KeptProperty
from adapters.postgres.invitations.invitations import PostgresInvitations
from adapters.postgres.mail.mail import PostgresMailOutbox
from adapters.postgres.organizations.access import PostgresAccess
from adapters.postgres.organizations.members import PostgresMembers
from adapters.postgres.organizations.organizations import PostgresOrganizations
from adapters.postgres.organizations.relations import PostgresRelations
from adapters.postgres.organizations.roles import PostgresRoles
from adapters.postgres.organizations.tiers import PostgresTiers
from adapters.postgres.platform.health_figures import PostgresFigures
from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from adapters.postgres.platform.mfa import PostgresPlatformMfa
from adapters.postgres.platform.organizations import PostgresPlatformOrganizations
from adapters.postgres.platform.users import PostgresPlatformUsers
from adapters.postgres.privacy.anonymization import PostgresAnonymization
from adapters.postgres.privacy.export import PostgresPrivacyExport
from adapters.postgres.services.end_users import PostgresEndUsers
from adapters.postgres.services.grants import PostgresServiceGrants
from adapters.postgres.services.services import PostgresServices
from adapters.postgres.sessions.server_secrets import PostgresServerSecrets
from adapters.postgres.sessions.sessions import PostgresCallers, PostgresSessions
from adapters.postgres.sessions.signing_keys import PostgresSigningKeys
from adapters.postgres.sign_in.sign_in import (
    PostgresLoginEvents,
    PostgresMfaEvents,
    PostgresOneTimeTokens,
    PostgresSignInFailures,
)
from core.errors import TokenInvalid, Unauthorized
from ports.doorbells import Bell

if TYPE_CHECKING:
    # To a type checker a kept property is no property, and a property is what the protocol asks for.
    kept_property = property
else:
    kept_property = KeptProperty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from adapters.crypto.vault import Vault
    from adapters.postgres.driver.connection import Connection
    from core.events.actions import AuditAction
    from core.events.events import EventType
    from core.events.platform_actions import PlatformAction
    from core.organizations.access import AccessContext
    from core.sessions.callers import Caller, Origin
    from ports.clock import Clock, Randomness
    from ports.credentials.devices import Locations
    from ports.credentials.passkeys import WebAuthn
    from ports.credentials.totp import Totp
    from ports.pepper import Pepper


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What every unit of work is given besides its connection."""

    clock: Clock
    randomness: Randomness
    vault: Vault
    pepper: Pepper
    locations: Locations
    totp: Totp
    webauthn: WebAuthn


class PostgresUnitOfWork:
    """The port `UnitOfWork`; lives as long as its transaction."""

    def __init__(
        self,
        connection: Connection,
        origin: Origin,
        tools: Tools,
        *,
        session_id: UUID | None = None,
        client_id: UUID | None = None,
    ) -> None:
        self.origin = origin
        self.randomness = tools.randomness
        self.pepper = tools.pepper
        self.locations = tools.locations
        self.totp = tools.totp
        self.webauthn = tools.webauthn
        self._session_id = session_id
        self._client_id = client_id
        self._caller: Caller | None = None
        self.bells: set[Bell] = set()
        self._connection = connection
        self._tools = tools

    @kept_property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC."""
        return self._tools.clock()

    @property
    def caller(self) -> Caller:
        """Who asks; raise `Unauthorized` when their session is over."""
        if self._caller is None:
            self._caller = self._admitted(
                self.callers.of_session(self._session_id) if self._session_id is not None else None
            )
        return self._caller

    def access_context(self, slug: str) -> AccessContext:
        """Load who asks, and an organization with their membership in it."""
        access = PostgresAccess(self._connection, self.now)
        arrival = access.arrival(self._session_id, slug) if self._session_id is not None else None
        self._caller = self._admitted(arrival.caller if arrival is not None else None)
        assert arrival is not None, "who was admitted has arrived"
        return arrival

    def _admitted(self, found: Caller | None) -> Caller:
        if found is None:
            raise Unauthorized("This session is over. Sign in again.")
        if found.service_client_id != self._client_id:
            # Signed by us for this session, but for somebody else to read.
            raise TokenInvalid
        return found

    @kept_property
    def callers(self) -> PostgresCallers:
        """Who stands behind a session."""
        return PostgresCallers(self._connection, self.now)

    @kept_property
    def users(self) -> PostgresUsers:
        """Accounts, without anything secret about them."""
        return PostgresUsers(self._connection)

    @kept_property
    def credentials(self) -> PostgresCredentials:
        """What accounts sign in with."""
        return PostgresCredentials(self._connection)

    @kept_property
    def user_import(self) -> PostgresUserImport:
        """Many new accounts in one go."""
        return PostgresUserImport(self._connection)

    @kept_property
    def sessions(self) -> PostgresSessions:
        """Sessions."""
        return PostgresSessions(self._connection, self.now)

    @kept_property
    def devices(self) -> PostgresDevices:
        """What people sign in from."""
        return PostgresDevices(self._connection)

    @kept_property
    def sign_in_failures(self) -> PostgresSignInFailures:
        """Refused sign-ins of the last minutes."""
        return PostgresSignInFailures(self._connection)

    @kept_property
    def login_events(self) -> PostgresLoginEvents:
        """Every attempt to sign in to a known account."""
        return PostgresLoginEvents(self._connection)

    @kept_property
    def one_time_tokens(self) -> PostgresOneTimeTokens:
        """What was mailed to people to prove an address or an intent."""
        return PostgresOneTimeTokens(self._connection)

    @kept_property
    def totp_secrets(self) -> PostgresTotpSecrets:
        """What authenticator apps share with us."""
        return PostgresTotpSecrets(self._connection, self._tools.vault)

    @kept_property
    def backup_codes(self) -> PostgresBackupCodes:
        """What people keep for when the app is lost."""
        return PostgresBackupCodes(self._connection, self.randomness)

    @kept_property
    def passkeys(self) -> PostgresPasskeys:
        """The public halves of people's passkeys."""
        return PostgresPasskeys(self._connection)

    @kept_property
    def passkey_challenges(self) -> PostgresPasskeyChallenges:
        """What authenticators are asked to sign."""
        return PostgresPasskeyChallenges(self._connection)

    @kept_property
    def mfa_challenges(self) -> PostgresMfaChallenges:
        """Sign-ins that wait for a second factor."""
        return PostgresMfaChallenges(self._connection, self.now)

    @kept_property
    def mfa_events(self) -> PostgresMfaEvents:
        """The separate log about second factors."""
        return PostgresMfaEvents(self._connection, self.origin, self.randomness, self.now)

    @kept_property
    def organizations(self) -> PostgresOrganizations:
        """Organizations."""
        return PostgresOrganizations(self._connection)

    @kept_property
    def platform_organizations(self) -> PostgresPlatformOrganizations:
        """The organizations of the platform, seen from outside."""
        return PostgresPlatformOrganizations(self._connection)

    @kept_property
    def tiers(self) -> PostgresTiers:
        """What organizations may use."""
        return PostgresTiers(self._connection)

    @kept_property
    def platform_audit_log(self) -> PostgresPlatformAuditLog:
        """What platform owners did."""
        return PostgresPlatformAuditLog(self._connection)

    @kept_property
    def members(self) -> PostgresMembers:
        """Who manages which organization."""
        return PostgresMembers(self._connection, self._session_id)

    @kept_property
    def roles(self) -> PostgresRoles:
        """The roles that organizations made for themselves."""
        return PostgresRoles(self._connection)

    @kept_property
    def service_grants(self) -> PostgresServiceGrants:
        """What members may do with single services."""
        return PostgresServiceGrants(self._connection)

    @kept_property
    def relations(self) -> PostgresRelations:
        """Who is what to what."""
        return PostgresRelations(self._connection)

    @kept_property
    def services(self) -> PostgresServices:
        """The applications of organizations."""
        return PostgresServices(self._connection)

    @kept_property
    def invitations(self) -> PostgresInvitations:
        """Who was asked to join which organization."""
        return PostgresInvitations(self._connection, self._tools.vault, self.now)

    @kept_property
    def end_users(self) -> PostgresEndUsers:
        """Who signs in to the services of organizations."""
        return PostgresEndUsers(self._connection, self.now)

    @kept_property
    def audit_log(self) -> PostgresAuditLog:
        """The audit logs of the organizations, to be read."""
        return PostgresAuditLog(self._connection)

    @kept_property
    def analytics(self) -> PostgresAnalytics:
        """How people sign in to organizations."""
        return PostgresAnalytics(self._connection)

    @kept_property
    def platform_users(self) -> PostgresPlatformUsers:
        """Everybody, for platform owners."""
        return PostgresPlatformUsers(self._connection)

    @kept_property
    def platform_mfa(self) -> PostgresPlatformMfa:
        """Everybody's second factors, for platform owners."""
        return PostgresPlatformMfa(self._connection)

    @kept_property
    def privacy_export(self) -> PostgresPrivacyExport:
        """What is kept of a person."""
        return PostgresPrivacyExport(self._connection)

    @kept_property
    def anonymization(self) -> PostgresAnonymization:
        """What has to go when a person is forgotten."""
        return PostgresAnonymization(self._connection)

    @kept_property
    def mail(self) -> PostgresMailOutbox:
        """Mail that leaves when this transaction commits."""
        return PostgresMailOutbox(self._connection, self._tools.vault, wake=lambda: self.bells.add(Bell.MAIL))

    @kept_property
    def signing_keys(self) -> PostgresSigningKeys:
        """The key pairs that sign tokens."""
        return PostgresSigningKeys(self._connection, self._tools.vault)

    @kept_property
    def server_secrets(self) -> PostgresServerSecrets:
        """Secrets of the installation itself."""
        return PostgresServerSecrets(self._connection, self._tools.vault, self.now)

    @kept_property
    def housekeeping(self) -> PostgresHousekeeping:
        """Being rid of what counts no longer."""
        return PostgresHousekeeping(self._connection)

    @kept_property
    def figures(self) -> PostgresFigures:
        """Counts for the gauges."""
        return PostgresFigures(self._connection)

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        """Write a line of the organization's audit log in this transaction."""
        if actor_user_id is None and self._session_id is not None:
            actor_user_id = self.caller.user_id
        if self._session_id is not None and self.caller.impersonator_id is not None:
            details |= {
                "impersonator_id": str(self.caller.impersonator_id),
                "impersonation_session": str(self._session_id),
            }
        self._connection.execute_later(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id,
                                       ip_address, user_agent, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self.randomness.new_id(),
                organization_id,
                actor_user_id,
                action.value,
                action.target_type.value,
                str(target_id),
                self.origin.ip_address,
                self.origin.user_agent,
                success,
                Jsonb(details),
                self.now,
            ),
        )

    def audit_each(self, action: AuditAction, targets: Sequence[tuple[UUID, UUID]], /) -> None:
        """Write a line about each of several targets, in one statement, done by nobody."""
        self._connection.execute_later(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, ip_address, user_agent,
                                       success, details, created_at)
            SELECT entry.id, entry.organization_id, %s, %s, entry.target_id::text, %s, %s, true, '{}', %s
            FROM   unnest(%s::uuid[], %s::uuid[], %s::uuid[]) AS entry (id, organization_id, target_id)
            """,
            (
                action.value,
                action.target_type.value,
                self.origin.ip_address,
                self.origin.user_agent,
                self.now,
                [self.randomness.new_id() for _ in targets],
                [organization_id for organization_id, _ in targets],
                [target_id for _, target_id in targets],
            ),
        )

    def audit_platform(
        self, action: PlatformAction, target_id: UUID, /, *, organization_id: UUID | None = None, **details: Any
    ) -> UUID:
        """Write a line of the platform audit log in this transaction, done by the caller or their impersonator."""
        entry_id = self.randomness.new_id()
        caller = self.caller
        self._connection.execute_later(
            """
            INSERT INTO platform_audit_entries (id, actor_user_id, action, target_type, target_id, organization_id,
                                                ip_address, user_agent, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, true, %s, %s)
            """,
            (
                entry_id,
                caller.impersonator_id or caller.user_id,
                action.value,
                action.target_type.value,
                str(target_id),
                organization_id,
                self.origin.ip_address,
                self.origin.user_agent,
                Jsonb(details),
                self.now,
            ),
        )
        return entry_id

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        """Say that something happened; receivers learn of it after the commit, at least once."""
        if actor_user_id is None and self._session_id is not None:
            actor_user_id, actor_email = self.caller.user_id, self.caller.email
        self.publish_to_each(event, (organization_id,), actor_user_id=actor_user_id, actor_email=actor_email, **data)

    def publish_to_each(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        **data: Any,
    ) -> None:
        """Say to each of several organizations, in one statement, that something happened."""
        self._connection.execute_later(
            """
            INSERT INTO events (id, type, organization_id, actor_user_id, actor_email, data, occurred_at)
            SELECT receiver.event_id, %s, receiver.organization_id, %s, %s, %s, %s
            FROM   unnest(%s::uuid[], %s::uuid[]) AS receiver (event_id, organization_id)
            """,
            (
                event.value,
                actor_user_id,
                actor_email,
                Jsonb(data),
                self.now,
                [self.randomness.new_id() for _ in organization_ids],
                list(organization_ids),
            ),
        )
        self.bells.add(Bell.EVENTS)

    def publish_each(self, event: EventType, happenings: Sequence[tuple[UUID, dict[str, Any]]], /) -> None:
        """Say in one statement that something happened several times, done by nobody."""
        self._connection.execute_later(
            """
            INSERT INTO events (id, type, organization_id, data, occurred_at)
            SELECT happening.id, %s, happening.organization_id, happening.data, %s
            FROM   unnest(%s::uuid[], %s::uuid[], %s::jsonb[]) AS happening (id, organization_id, data)
            """,
            (
                event.value,
                self.now,
                [self.randomness.new_id() for _ in happenings],
                [organization_id for organization_id, _ in happenings],
                [Jsonb(data) for _, data in happenings],
            ),
        )
        self.bells.add(Bell.EVENTS)
