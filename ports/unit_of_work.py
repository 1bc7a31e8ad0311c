"""What one transaction offers a use case: the stored aggregates, the time, the caller, and how to be remembered.

It is the only port that the core names, and only in annotations. Every method here and on the aggregates is
synchronous: a use case runs to completion inside one transaction, and waits for nothing else.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.events.actions import AuditAction
from core.events.events import EventType
from core.events.platform_actions import PlatformAction
from core.organizations.access import AccessContext
from core.sessions.callers import Caller, Origin
from ports.accounts.user_import import UserImport
from ports.accounts.users import Credentials, Users
from ports.audit.analytics import Analytics
from ports.audit.audit_log import AuditLog
from ports.audit.platform_audit_log import PlatformAuditLog
from ports.clock import Randomness
from ports.credentials.devices import Devices, Locations
from ports.credentials.mfa import MfaChallenges, StoredBackupCodes, TotpSecrets
from ports.credentials.passkeys import PasskeyChallenges, Passkeys, WebAuthn
from ports.credentials.totp import Totp
from ports.invitations.invitations import Invitations
from ports.mail.mail import MailOutbox
from ports.organizations.members import Members
from ports.organizations.organizations import Organizations
from ports.organizations.relations import Relations
from ports.organizations.roles import Roles
from ports.organizations.tiers import Tiers
from ports.pepper import Pepper
from ports.platform.health_figures import Figures
from ports.platform.housekeeping import Housekeeping
from ports.platform.mfa import PlatformMfa
from ports.platform.organizations import PlatformOrganizations
from ports.platform.users import PlatformUsers
from ports.privacy.privacy import Anonymization, PrivacyExport
from ports.services.end_users import EndUsers
from ports.services.grants import ServiceGrants
from ports.services.services import Services
from ports.sessions.server_secrets import ServerSecrets
from ports.sessions.sessions import Callers, Sessions
from ports.sessions.signing_keys import SigningKeys
from ports.sign_in.sign_in import LoginEvents, MfaEvents, OneTimeTokens, SignInFailures


class UnitOfWork(Protocol):
    """One transaction. Raising rolls it back, returning commits it."""

    @property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC; it stands still while the transaction lasts."""
        ...

    @property
    def origin(self) -> Origin:
        """Where the request came from."""
        ...

    @property
    def caller(self) -> Caller:
        """Who asks; raise `Unauthorized` when their session is over."""
        ...

    def access_context(self, slug: str) -> AccessContext:
        """Load who asks, and an organization with their membership in it; raise `Unauthorized` as `caller` does."""
        ...

    @property
    def callers(self) -> Callers:
        """Who stands behind a session."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Ids and secrets that nobody can guess."""
        ...

    @property
    def pepper(self) -> Pepper:
        """Marks that only this installation can make."""
        ...

    @property
    def locations(self) -> Locations:
        """Where an address seems to be."""
        ...

    @property
    def users(self) -> Users:
        """Accounts, without anything secret about them."""
        ...

    @property
    def credentials(self) -> Credentials:
        """What accounts sign in with; apart, so that listing users can never select a password hash."""
        ...

    @property
    def user_import(self) -> UserImport:
        """Many new accounts in one go."""
        ...

    @property
    def sessions(self) -> Sessions:
        """Sessions."""
        ...

    @property
    def devices(self) -> Devices:
        """What people sign in from."""
        ...

    @property
    def sign_in_failures(self) -> SignInFailures:
        """Refused sign-ins of the last minutes."""
        ...

    @property
    def login_events(self) -> LoginEvents:
        """Every attempt to sign in to a known account."""
        ...

    @property
    def one_time_tokens(self) -> OneTimeTokens:
        """What was mailed to people to prove an address or an intent."""
        ...

    @property
    def totp(self) -> Totp:
        """What the codes of authenticator apps mean."""
        ...

    @property
    def totp_secrets(self) -> TotpSecrets:
        """What authenticator apps share with us; apart, because it is secret."""
        ...

    @property
    def backup_codes(self) -> StoredBackupCodes:
        """What people keep for when the app is lost."""
        ...

    @property
    def webauthn(self) -> WebAuthn:
        """What browsers and authenticators say."""
        ...

    @property
    def passkeys(self) -> Passkeys:
        """The public halves of people's passkeys."""
        ...

    @property
    def passkey_challenges(self) -> PasskeyChallenges:
        """What authenticators are asked to sign."""
        ...

    @property
    def mfa_challenges(self) -> MfaChallenges:
        """Sign-ins that wait for a second factor."""
        ...

    @property
    def mfa_events(self) -> MfaEvents:
        """The separate log about second factors."""
        ...

    @property
    def organizations(self) -> Organizations:
        """Organizations."""
        ...

    @property
    def platform_organizations(self) -> PlatformOrganizations:
        """The organizations of the platform, seen from outside."""
        ...

    @property
    def tiers(self) -> Tiers:
        """What organizations may use."""
        ...

    @property
    def platform_audit_log(self) -> PlatformAuditLog:
        """What platform owners did."""
        ...

    @property
    def members(self) -> Members:
        """Who manages which organization."""
        ...

    @property
    def roles(self) -> Roles:
        """The roles that organizations made for themselves."""
        ...

    @property
    def service_grants(self) -> ServiceGrants:
        """What members may do with single services."""
        ...

    @property
    def relations(self) -> Relations:
        """Who is what to what."""
        ...

    @property
    def services(self) -> Services:
        """The applications of organizations."""
        ...

    @property
    def invitations(self) -> Invitations:
        """Who was asked to join which organization."""
        ...

    @property
    def end_users(self) -> EndUsers:
        """Who signs in to the services of organizations."""
        ...

    @property
    def audit_log(self) -> AuditLog:
        """The audit logs of the organizations, to be read; `audit` writes them."""
        ...

    @property
    def analytics(self) -> Analytics:
        """How people sign in to organizations."""
        ...

    @property
    def platform_users(self) -> PlatformUsers:
        """Everybody, for platform owners."""
        ...

    @property
    def platform_mfa(self) -> PlatformMfa:
        """Everybody's second factors, for platform owners."""
        ...

    @property
    def privacy_export(self) -> PrivacyExport:
        """What is kept of a person."""
        ...

    @property
    def anonymization(self) -> Anonymization:
        """What has to go when a person is forgotten."""
        ...

    @property
    def mail(self) -> MailOutbox:
        """Mail that leaves when, and only when, this transaction commits."""
        ...

    @property
    def signing_keys(self) -> SigningKeys:
        """The key pairs that sign tokens."""
        ...

    @property
    def server_secrets(self) -> ServerSecrets:
        """Secrets of the installation itself."""
        ...

    @property
    def housekeeping(self) -> Housekeeping:
        """Being rid of what counts no longer."""
        ...

    @property
    def figures(self) -> Figures:
        """Counts for the gauges that operators watch."""
        ...

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
        """Write a line of the organization's audit log in this transaction; the actor is the caller unless named.

        What an impersonator does is marked with who they are.
        """
        ...

    def audit_each(self, action: AuditAction, targets: Sequence[tuple[UUID, UUID]], /) -> None:
        """Write a line about each of several targets, in one statement, done by nobody.

        A target is the organization whose log it is, and the id.
        """
        ...

    def audit_platform(
        self, action: PlatformAction, target_id: UUID, /, *, organization_id: UUID | None = None, **details: Any
    ) -> UUID:
        """Write a line of the platform audit log in this transaction, done by the caller; give its id.

        Of a caller whom somebody impersonates it is done by the impersonator.
        """
        ...

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
        """Say that something happened; receivers learn of it after the commit, at least once.

        The actor is the caller unless named.
        """
        ...

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
        """Say to each of several organizations, in one statement, that something happened; None is nobody's."""
        ...

    def publish_each(self, event: EventType, happenings: Sequence[tuple[UUID, dict[str, Any]]], /) -> None:
        """Say in one statement that something happened several times, done by nobody; to whom, and how."""
        ...
