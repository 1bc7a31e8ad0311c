"""Proofs of identity and destinations, which every sign-in method passes to `conclusion.py`."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.sessions import MAILED

if TYPE_CHECKING:
    from core.sessions.browser_sessions import BrowserSession
    from core.sessions.caller_limits import Confinement
    from core.sign_in.identities import ProviderSession

# A sign-in by another party's word, for which there is no registered method (RFC 8176).
FEDERATED: Final = "fed"


class MailedProof(StrEnum):
    """What of a sign-in mail was used; the link counts even where its page showed a code for another device."""

    LINK = "link"
    CODE = "code"


def mailed_proof_of(word: str | None) -> MailedProof | None:
    """Return what of a mail was used, by the stored word; None for none, and for a word of a later version."""
    return MailedProof(word) if word in set(MailedProof) else None


@dataclass(frozen=True, slots=True)
class UsedWay:
    """How a sign-in was made or tried, as its event records it."""

    provider: Provider
    # The limits of the session that follow from how the identity was proved.
    confinement: Confinement | None = None
    mailed_proof: MailedProof | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProof:
    """The user whose identity is proved, and by which methods (RFC 8176)."""

    user_id: UUID
    provider: Provider
    amr: tuple[str, ...]
    proves_address: bool = False
    # What of a mail has proved it; None for another way, and where it was proved before this request.
    mailed_proof: MailedProof | None = None
    # When it was proved, if not at this sign-in.
    authenticated_at: datetime | None = None
    # The limits of the session that follow from how it was proved.
    confinement: Confinement | None = None
    # How the identity provider that has proved it names the session there.
    provider_session: ProviderSession | None = None
    # Until when the identity provider lets the session last; None without such an end.
    bounded_until: datetime | None = None

    @property
    def used_way(self) -> UsedWay:
        """How it was made."""
        return UsedWay(self.provider, self.confinement, self.mailed_proof)

    @property
    def has_second_factor(self) -> bool:
        """Whether more than one factor was proved."""
        return "mfa" in self.amr

    @property
    def is_of_provider(self) -> bool:
        """Whether it began with the word of another party."""
        return FEDERATED in self.amr

    @property
    def is_by_passkey(self) -> bool:
        """Whether it was made by a passkey."""
        return self.provider is Provider.PASSKEY

    @property
    def is_by_connection(self) -> bool:
        """Whether it was made by a connection of an organization."""
        return self.connection_id is not None

    @property
    def connection_id(self) -> UUID | None:
        """The connection of an organization by which it was made; None for another way."""
        return self.confinement.connection_id if self.confinement is not None else None

    def confined_to_role(self, role: str | None) -> IdentityProof:
        """Return the proof, made by a connection, with the highest role that it opens; None for no such limit."""
        assert self.confinement is not None, "a proof without limits opens a single role"
        return replace(self, confinement=replace(self.confinement, role=role))

    def with_methods(self, *methods: str) -> IdentityProof:
        """Return the proof with further authentication methods."""
        return replace(self, amr=(*self.amr, *methods))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The organization and the service to which a sign-in finally leads; None where it names none."""

    organization_id: UUID | None = None
    service_id: UUID | None = None
    # The organization of the customer for which the service is used.
    customer_organization_id: UUID | None = None

    @classmethod
    def within(cls, limits: Confinement | None) -> Target:
        """Return the target of sessions with these limits."""
        if limits is None:
            return cls()
        return cls(organization_id=limits.organization_id, service_id=limits.service_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class InBrowser:
    """A sign-in on a page: its session is kept in the browser, which may have one already.

    `is_again` means that the user of the present session proves again that they are there, by one factor. `return_id`
    names where the sign-in leads, if its form carried an id of `browser_returns.py`, and `organization_slug` the
    organization whose page it leads to.
    """

    present: BrowserSession | None = None
    stays_signed_in: bool = False
    is_again: bool = False
    # The value of the cookie that binds the browser to its sign-ins with other providers.
    upstream_binding: str | None = field(default=None, repr=False)
    return_id: str = field(default="", repr=False)
    organization_slug: str | None = None

    @property
    def is_signed_in_by_mail(self) -> bool:
        """Whether the present session has proved access to the mailbox of its account."""
        return self.present is not None and MAILED in self.present.amr

    @property
    def has_proved_second_factor(self) -> bool:
        """Whether the session that is to be continued has proved a second factor."""
        return self.is_again and self.present is not None and self.present.has_proved_second_factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """The organization and service to sign in to, and the token of the device.

    `browser` is set where the session is to be kept in a browser, `parent_id` where it is the child of such a session.
    `is_pushed`: the service has pushed the request that the sign-in answers; None where that is not known. `target` is
    where a request leads that waits for the sign-in, if another place than its own is known. `confirms_address`: the
    sign-in is made to confirm the address of the account. `customer` names the customer of the service for which the
    user signs in, by its id or slug; it is empty for none, and None where nothing is said of it. With
    `asks_for_customer` another request has named it, which anyone can send: the user is asked, unless they have signed
    in for it before. `proved_for` names the customer of a user who has proved their identity: a refusal of that user is
    recorded for the customer as well. `confirms_membership`: on the way to a service, the user was asked about the
    organization that has added them, and goes on. `code` is the authorization code for which the tokens of the session
    will be handed out.
    """

    organization_slug: str | None = None
    service_slug: str | None = None
    device_token: str | None = field(default=None, repr=False)
    browser: InBrowser | None = None
    parent_id: UUID | None = None
    is_pushed: bool | None = False
    target: Target | None = None
    confirms_address: bool = False
    customer: str | None = None
    asks_for_customer: bool = False
    proved_for: str | None = None
    confirms_membership: bool = False
    code: Secret | None = None

    def of_proved(self, customer_id: UUID | None = None) -> Destination:
        """Return the destination of a user who has proved their identity, and signs in for the named customer."""
        named = str(customer_id) if customer_id is not None else self.proved_for or self.customer
        return replace(self, proved_for=named) if named else self

    @property
    def continued_session_id(self) -> UUID | None:
        """The session in which its user proves again that they are present; None for a sign-in."""
        browser = self.browser
        return browser.present.session_id if browser is not None and browser.is_again and browser.present else None

    @property
    def continues_two_factors(self) -> bool:
        """Whether the session to be continued has proved a second factor already."""
        return self.browser is not None and self.browser.has_proved_second_factor
