"""What one transaction offers a use case: who calls, what is recorded, and the aggregates.

It is the only port that the core names, and only in annotations. Every method here and on the aggregates is
synchronous: a use case runs to completion inside one transaction, and waits for nothing else.
"""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.profile import NamedCaller
from core.customers.setup_callers import SetupCaller
from core.organizations.authorization import AccessContext
from core.organizations.link_callers import LinkCaller
from core.organizations.organizations import MadeThrough
from core.scim.tokens import ScimCaller
from core.services.api_keys import ServiceCaller
from core.sessions.callers import Caller
from core.sessions.origins import Origin
from core.sessions.token_additions import TokenSubject
from ports.aggregates import Aggregates, ReadsElsewhere
from ports.clock import Randomness
from ports.credentials.passkeys import WebAuthn
from ports.domain_names import DomainNames
from ports.events.recording import Recording
from ports.pepper import Pepper


class UnitOfWork(Recording, Aggregates, Protocol):
    """One transaction. Raising rolls it back, returning commits it."""

    @property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC; it does not change while the transaction lasts."""
        ...

    def require_transaction(self) -> None:
        """Let the use case run in a transaction, from its beginning, where it runs as a step or only reads.

        For one that seldom writes more than one statement. It has written nothing when it calls this.
        """
        ...

    @property
    def elsewhere(self) -> ReadsElsewhere:
        """What may be read from a replica that shows everything which was committed before the caller was read."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Ids and secrets that cannot be guessed."""
        ...

    @property
    def domain_names(self) -> DomainNames:
        """The ASCII forms of internationalized domain names."""
        ...

    @property
    def pepper(self) -> Pepper:
        """Keyed hashes that only this installation can compute."""
        ...

    @property
    def webauthn(self) -> WebAuthn:
        """WebAuthn for the host of the request; it is made when a passkey is first used."""
        ...

    @property
    def has_rate_limits(self) -> bool:
        """Whether the installation limits requests and mails; `GATEHOUSE_RATE_LIMITS=off`, for load tests, says no."""
        ...

    @property
    def origin(self) -> Origin:
        """The origin of the request."""
        ...

    @property
    def caller(self) -> Caller:
        """The signed-in caller, loaded once in this transaction.

        Raise `Unauthorized` when their session has ended, and `NoLongerInContext` when they no longer belong to the
        organization or service of the session.
        """
        ...

    @property
    def named_caller(self) -> NamedCaller:
        """The caller with their names, read anew by one statement; refuses what `caller` refuses."""
        ...

    @property
    def token_subject(self) -> TokenSubject:
        """The caller with the claims that the service adds to tokens, in one statement; raise as `caller` does."""
        ...

    @property
    def caller_if_signed_in(self) -> Caller | None:
        """The caller of a request that may carry an access token, None without one; else as `caller`.

        The caller need no longer belong to the context of their session, but must still be admitted by its service.
        """
        ...

    @property
    def caller_to_log_out(self) -> Caller | None:
        """As `caller_if_signed_in`, also for a caller that the service no longer admits."""
        ...

    @property
    def service_caller(self) -> ServiceCaller:
        """The backend of a service that calls with an API key, loaded once; raise `ApiKeyInvalid`."""
        ...

    @property
    def scim_caller(self) -> ScimCaller:
        """The directory that calls with a SCIM token, loaded once; raise `ScimTokenInvalid`."""
        ...

    @property
    def link_caller(self) -> LinkCaller:
        """The holder of the setup link whose cookie the request brings; raise `SetupLinkDead`."""
        ...

    def access_context(self, slug: str) -> AccessContext:
        """Load the caller, an organization and their membership in it; raise `Unauthorized` as `caller` does.

        With a key of an organization, the caller and the membership are those of its maker, and `caller` is the maker
        from then on; raise `OrganizationKeyInvalid`. So it is with the cookie of a setup link; raise `SetupLinkDead`.
        """
        ...

    def caller_belongs_to(self, slug: str, organization_id: UUID) -> None:
        """Record that the caller belongs to this organization: their requests then use its share of the connections."""
        ...

    def enter_setup(self, caller: SetupCaller) -> None:
        """Let a vendor act in the internal organization of a customer too, besides the organization of the request."""
        ...

    @property
    def made_through(self) -> MadeThrough | None:
        """The way by which a vendor makes something for a customer; None when an organization makes its own."""
        ...
