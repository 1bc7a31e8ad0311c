"""The unit of work over one connection: the aggregates, made when first asked for, and what every change can leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from adapters.postgres.devices import PostgresDevices
from adapters.postgres.figures import PostgresFigures
from adapters.postgres.housekeeping import PostgresHousekeeping
from adapters.postgres.kept_property import KeptProperty
from adapters.postgres.mail import PostgresMailOutbox
from adapters.postgres.mfa import PostgresBackupCodes, PostgresMfaChallenges, PostgresTotpSecrets
from adapters.postgres.organizations import PostgresMemberships, PostgresOrganizations, PostgresServices
from adapters.postgres.passkeys import PostgresPasskeyChallenges, PostgresPasskeys
from adapters.postgres.server_secrets import PostgresServerSecrets
from adapters.postgres.sessions import PostgresCallers, PostgresSessions
from adapters.postgres.sign_in import (
    PostgresLoginEvents,
    PostgresMfaEvents,
    PostgresOneTimeTokens,
    PostgresSignInFailures,
)
from adapters.postgres.signing_keys import PostgresSigningKeys
from adapters.postgres.user_import import PostgresUserImport
from adapters.postgres.users import PostgresCredentials, PostgresUsers
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
    from adapters.postgres.pool import Connection
    from core.audit import AuditAction
    from core.callers import Caller, Origin
    from core.events import EventType
    from ports.clock import Clock, Randomness
    from ports.devices import Locations
    from ports.passkeys import WebAuthn
    from ports.pepper import Pepper
    from ports.totp import Totp


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
        self.bells: set[Bell] = set()
        self._connection = connection
        self._tools = tools

    @kept_property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC."""
        return self._tools.clock()

    @kept_property
    def caller(self) -> Caller:
        """Who asks; raise `Unauthorized` when their session is over."""
        found = self.callers.of_session(self._session_id) if self._session_id is not None else None
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
    def memberships(self) -> PostgresMemberships:
        """Who manages which organization."""
        return PostgresMemberships(self._connection)

    @kept_property
    def services(self) -> PostgresServices:
        """The applications of organizations."""
        return PostgresServices(self._connection)

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
        self._connection.execute(
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
        self._connection.execute(
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
