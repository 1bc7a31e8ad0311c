"""The possible answers to an authorization request, and its visitor; `authorization.py` decides which answer it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.browser_sessions import BrowserSession
from core.sign_in.admission import AddedBy
from core.sign_in.child_sessions import PreparedVisit
from core.sign_in.customer_choices import CustomerStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The browser that brings a request: its session, if it is signed in, and the token of its device.

    `key` identifies a browser that was asked to sign in. `prepared` is the data to judge its user by, where it was read
    together with the client.
    """

    browser: BrowserSession | None
    device_token: str | None = field(default=None, repr=False)
    key: Secret | None = None
    prepared: PreparedVisit | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadBack:
    """The browser goes back to the service, with a code or with an error.

    `posted` has the fields of a form to post to the address, for the response mode `form_post`; None to open it.
    """

    locales: Sequence[str]
    address: str = field(repr=False)
    posted: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInNeeded:
    """The user has to sign in, probably with this address, and then the request goes on under its id.

    The browser keeps `browser_key`, and brings it with the request. The sign-in is recorded for `request_key`. The user
    sees the page for a new account first when `is_for_new_account`, in the first available one of the `locales`.
    `connection_id` is the connection by which the user signs in for a customer; `is_anew` says that the session of the
    browser is confined to something else.
    """

    request_id: Secret
    browser_key: Secret
    organization_slug: str
    service_slug: str
    email: str | None
    is_for_new_account: bool
    locales: Sequence[str]
    request_key: bytes = field(repr=False)
    connection_id: UUID | None = None
    is_anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRequest:
    """What each page says of a request, which its answer names by the id."""

    request_id: Secret
    organization_id: UUID
    organization_name: str
    service_name: str
    email: str
    locales: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(ShownRequest):
    """The user is asked for consent to the service.

    `sentences` describe the requested scopes of the service. `added_by` is what has made a membership that the answer
    confirms; None where there is none to confirm. `asks_name` says that the page also asks for a name.
    """

    sentences: Sequence[str] = ()
    added_by: AddedBy | None = None
    asks_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NameQuestion(ShownRequest):
    """The user is asked for a name; `problem` is what was wrong with one.

    With `joins` the answer also confirms their membership.
    """

    typed: str = ""
    problem: str = ""
    joins: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerQuestion(ShownRequest):
    """The user chooses the customer of the service for which they sign in.

    For a customer for which they have not signed in before, the answer is their consent as well; `may_come_alone` says
    that they may sign in without a customer.
    """

    customers: Sequence[CustomerStanding]
    may_come_alone: bool
    sentences: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAccess(ShownRequest):
    """The user has no access to the service, for a customer or at all; the request can be refused by its id."""

    message: str
    may_create_organization: bool
    is_closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupNeeded:
    """The user has to set up a second factor that the organization requires, and then the request goes on."""

    request_id: Secret
    organization_slug: str
    service_slug: str
    locales: Sequence[str]


Answer = LeadBack | SignInNeeded | Question | NameQuestion | CustomerQuestion | NoAccess | SetupNeeded
