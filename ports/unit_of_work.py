"""What one transaction offers a use case: the stored aggregates, the time, the caller, and how to be remembered.

It is the only port that the core names, and only in annotations. Every method here and on the aggregates is
synchronous: a use case runs to completion on a worker thread, inside one transaction, and waits for nothing else.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.audit import AuditAction
from core.callers import Caller, Origin
from core.events import EventType
from ports.clock import Randomness
from ports.devices import Devices, Locations
from ports.figures import Figures
from ports.housekeeping import Housekeeping
from ports.mail import MailOutbox
from ports.mfa import BackupCodes, MfaChallenges, TotpSecrets
from ports.organizations import Memberships, Organizations, Services
from ports.passkeys import PasskeyChallenges, Passkeys, WebAuthn
from ports.pepper import Pepper
from ports.server_secrets import ServerSecrets
from ports.sessions import Callers, Sessions
from ports.sign_in import LoginEvents, MfaEvents, OneTimeTokens, SignInFailures
from ports.signing_keys import SigningKeys
from ports.totp import Totp
from ports.user_import import UserImport
from ports.users import Credentials, Users


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
    def backup_codes(self) -> BackupCodes:
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
    def memberships(self) -> Memberships:
        """Who manages which organization."""
        ...

    @property
    def services(self) -> Services:
        """The applications of organizations."""
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
