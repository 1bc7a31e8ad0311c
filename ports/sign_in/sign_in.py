"""Storage of sign-ins: sessions and ways in, places, second factors asked for, events, returns of browsers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.sessions.caller_limits import Confinement
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.login_events import LoginEvent, NamedPlace, RefusedAttempt
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.own_account import AccountFigures, NamedConnection, OwnSession, SupportSession
from core.sign_in.places import Place
from core.sign_in.proofs import Target
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import Habits
from core.sign_in.sign_in_rules import AskedMembers
from core.sign_in.sign_ins import Affiliation, Scope, SignIn


class SignIns(Protocol):
    """The login events of a user, for people who help; newest first is the descending order of their ids."""

    def affiliation(self, organization_id: UUID, user_id: UUID) -> Affiliation | None:
        """Return since when an organization may see the sign-ins of its member or end user; None for anyone else."""
        ...

    def affiliated(self, organization_id: UUID, email: str) -> UUID | None:
        """Return the member or end user of an organization who has an address; None when there is none."""
        ...

    def defer_count(self, user_id: UUID, scope: Scope | None) -> Deferred[int]:
        """Defer counting the sign-ins of a user in a scope; None means all."""
        ...

    def page(self, user_id: UUID, scope: Scope | None, *, limit: int, offset: int) -> Sequence[SignIn]:
        """Return a part of the sign-ins of a user in a scope, the newest first; None means all.

        In the scope of an organization only its own connections are named.
        """
        ...

    def find(self, user_id: UUID, sign_in_id: UUID, scope: Scope | None) -> SignIn | None:
        """Return a sign-in of a user, as `page` does; None when the scope has none with that id."""
        ...

    def following(self, user_id: UUID, scope: Scope | None, *, after: UUID | None, limit: int) -> Sequence[SignIn]:
        """Return the newest sign-ins of a user in a scope, or those before the one with an id, as `page` does."""
        ...


class SessionsOfUser(Protocol):
    """The live sessions of a user, with the names of what they belong to."""

    def alive_of(
        self, user_id: UUID, *, limits: Confinement | None, current_id: UUID | None, limit: int
    ) -> tuple[Sequence[OwnSession], int]:
        """Return a user's live sessions within limits and the current one, and how many there are.

        The current one, if there is one, stands first, then the most recently used; at most `limit` are returned.
        """
        ...

    def support_of(
        self, user_id: UUID, *, only_organization_id: UUID | None, since: datetime, limit: int
    ) -> Sequence[SupportSession]:
        """Return the newest impersonations of a user since a moment, in one organization where it is named."""
        ...

    def organization_of(self, user_id: UUID, service_id: UUID, *, limits: Confinement | None) -> UUID | None:
        """Return the organization of a service where a user has a live session within limits; None without one."""
        ...


class WaysOfUser(Protocol):
    """Connections by which a user signs in, with their names."""

    def defer_required(self, user_id: UUID, *, of_owners: bool = False) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a user has to sign in; None when every way is open. It locks nothing.

        With `of_owners`, return it also for the owner of its organization, who is exempt.
        """
        ...

    def defer_connection_of(self, session_id: UUID) -> Deferred[NamedConnection | None]:
        """Defer reading the connection by which a session began; None when it began otherwise."""
        ...


class SignInPlaces(Protocol):
    """Organizations and their services, as a user who signs in may see them."""

    def defer(
        self,
        user_id: UUID,
        organization_slug: str | None,
        service_slug: str | None,
        *,
        holds: bool = False,
    ) -> Deferred[Place]:
        """Defer reading the place of a sign-in, without the parts that are not named or do not exist.

        With `holds` the organization is not deleted before the transaction ends.
        """
        ...

    def defer_of_client(self, user_id: UUID, client_id: UUID) -> Deferred[Place]:
        """Defer reading the place of a service by its client id, and hold it; the place of an unknown one is empty.

        This is cheap for a service without customers that is open to everyone.
        """
        ...

    def defer_target(self, return_hash: bytes | None, organization_slug: str | None) -> Deferred[Target | None]:
        """Defer reading the organization and service that a return names, expired or not.

        If it names none, read the organization with the slug; None when there is none.
        """
        ...


class MembersUnderRules(Protocol):
    """The factors of members that resist phishing: passkeys, and connections with `trust_mfa`."""

    def asked(self, organization_id: UUID, *, named_max: int, counted_max: int) -> AskedMembers:
        """Return the active members without such a factor: the first to join by name, all counted to a maximum."""
        ...

    def has_resistant_factor(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a member has such a factor."""
        ...


class FiguresOfUser(Protocol):
    """Counts what belongs to the account of a user."""

    def of_user(
        self,
        user_id: UUID,
        *,
        limits: Confinement | None,
        only_organization_id: UUID | None,
        current_id: UUID,
        figure_max: int,
    ) -> AccountFigures:
        """Return the figures of a user within limits, and of one organization where it is named, in one statement.

        Each is at most `figure_max`.
        """
        ...


class CustomerVisits(Protocol):
    """The users of services for customers; a visit ends with the membership and with the customer."""

    def record(self, customer_id: UUID, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Record that a user signs in for a customer, unless the membership or admission has ended meanwhile.

        The organization is the one of the membership or of the admission (`admitting_organization_id`).
        """
        ...

    def record_use(self, customer_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Record that a user uses the service for a customer in this month, unless that is recorded already."""
        ...


class MfaChallenges(Protocol):
    """Sign-ins between the first factor and the second."""

    def add(self, challenge: MfaChallenge) -> None:
        """Store a challenge."""
        ...

    def lock(self, challenge_id: UUID, *, user_id: UUID, awaits_customer: bool = False) -> MfaChallenge | None:
        """Return a user's challenge, locked until this transaction ends; None when it is used, expired or ended.

        None also when it does not wait for a code, or with `awaits_customer` for the choice of a customer. The caller
        has locked the account, so that nothing ends the challenge meanwhile.
        """
        ...

    def user_of(self, challenge_id: UUID) -> UUID | None:
        """Return the user of a challenge, also of one that is over; None when it is no longer kept."""
        ...

    def find(self, challenge_id: UUID, *, user_id: UUID) -> MfaChallenge | None:
        """Return a user's challenge, also one that is used, expired or ended; None when it is no longer kept."""
        ...

    def ask_passkey(self, challenge_id: UUID, asked: bytes, *, expires_at: datetime) -> None:
        """Store the challenge that a passkey has to sign to finish the sign-in, replacing an earlier one."""
        ...

    def end_passkey(self, challenge_id: UUID) -> None:
        """Use up the challenge for a passkey."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        ...

    def use(self, challenge_id: UUID) -> None:
        """Use up a challenge."""
        ...


class LoginEvents(Protocol):
    """Every attempt to sign in to an existing account, and the habits that the next one is compared with."""

    def add(self, event: LoginEvent, *, has_waited: bool) -> None:
        """Store an attempt of a person whose account this transaction holds, and add it to their habits.

        If the sign-in `has_waited`, its earlier event with this id and organization is replaced, unless that one was
        completed.
        """
        ...

    def pass_over(self, event: LoginEvent) -> None:
        """Store nothing, by statements that take as long as those of `add`."""
        ...

    def defer_refused(self, user_id: UUID, reason: SignInReason, named: NamedPlace) -> Deferred[RefusedAttempt]:
        """Defer reading what a refused attempt belongs to, and whether the most allowed of its kind are stored already.

        Its kind are the attempts of the last fifteen minutes with the same reason and organization. It belongs to an
        organization only if the user is its member or uses its services, and to the named customer of the service only
        if the user is a confirmed member of that customer. Its organization is not deleted before the transaction ends.
        """
        ...

    def defer_habits(self, user_id: UUID) -> Deferred[Habits]:
        """Defer reading a user's habits: within the windows and bounds of `core/sign_in/risk.py`."""
        ...


class BrowserReturns(Protocol):
    """Returns by the hash of their id."""

    def add(self, wanted: BrowserReturn, id_hash: bytes, *, expires_at: datetime) -> None:
        """Store a return."""
        ...

    def find(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Return a return by its id; None when it is unknown, used or expired."""
        ...

    def find_lapsed(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Return a return that has expired unused, while it is kept; None otherwise."""
        ...

    def use(self, id_hash: bytes, *, at: datetime) -> BrowserReturn | None:
        """Delete a return and return it, so that of two callers one gets it; None as `find`."""
        ...

    def record_sign_in(self, id_hash: bytes, session_id: UUID, *, at: datetime, expires_at: datetime) -> None:
        """Record, until `expires_at`, that a session was begun or continued for the request of a return.

        Record nothing when the return is unknown, used or expired, or has no request.
        """
        ...

    def has_signed_in(self, request_key: bytes, session_id: UUID, *, at: datetime) -> bool:
        """Return whether `record_sign_in` has recorded this session for a request."""
        ...
