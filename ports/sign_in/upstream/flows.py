"""Storage of sign-ins at external providers: flows, trials, failures, sessions, moves, credentials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.sign_in.identities import ProvenIdentity, ProviderSession
from core.sign_in.upstream.connections.failures import ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.flows import ProviderClient, UpstreamSignIn
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.providers import ExternalProvider
from core.sign_in.upstream.revocation.moves import Arriving
from core.sign_in.upstream.trials.trials import TrialAnswer, TrialResult, TrialSignIn

if TYPE_CHECKING:
    from core.sign_in.upstream.connections.oauth_credentials import StoredCredentials


class UpstreamSignIns(Protocol):
    """Sign-ins by the hash of their state; of several concurrent calls that use one up, one gets it.

    One that began at a custom domain is used up there, except while its browser is under the base URL.
    """

    def add(
        self, sign_in: UpstreamSignIn, state_hash: bytes, *, browser_hash: bytes | None, proven: ProvenIdentity | None
    ) -> None:
        """Store a sign-in; the proven identity is encrypted."""
        ...

    def use(self, state_hash: bytes, provider: Provider, *, browser_hash: bytes | None) -> UpstreamSignIn | None:
        """Use up a sign-in of this provider and browser that has no identity yet.

        None when there is none, or it was used or has expired.
        """
        ...

    def enter(
        self, ticket_hash: bytes, *, state_hash: bytes, browser_hash: bytes, expires_at: datetime
    ) -> UpstreamSignIn | None:
        """Use up the ticket of a sign-in that comes from a custom domain, and give it another state and browser.

        None when there is none, or it was used or has expired.
        """
        ...

    def keep_answer(
        self, state_hash: bytes, connection_id: UUID, proven: ProvenIdentity, *, continue_hash: bytes
    ) -> bool:
        """Add the identity to a sign-in by a connection that has none yet, and give it another state.

        False when there is none, or it was used or has expired.
        """
        ...

    def is_kept(self, organization_id: UUID, sign_in_id: UUID) -> bool:
        """Return whether a sign-in at an organization, used or not, was neither deleted nor ended meanwhile."""
        ...

    def set_code(self, state_hash: bytes, code_hash: bytes, *, expires_at: datetime) -> None:
        """Store the code that a sign-in with an identity needs to go on, and until when the code is valid."""
        ...

    def lock_code(self, state_hash: bytes, *, browser_hash: bytes, tries_max: int) -> bytes | None:
        """Lock a sign-in of this browser that waits for a code, and return its hash.

        None when there is none, or it was used, has expired, or had so many wrong codes.
        """
        ...

    def count_wrong_code(self, state_hash: bytes) -> None:
        """Count a wrong code of a locked sign-in."""
        ...

    def use_proven(self, state_hash: bytes, *, browser_hash: bytes) -> tuple[UpstreamSignIn, ProvenIdentity] | None:
        """Use up a sign-in of this browser that has an identity; None as `use`."""
        ...


class ConnectionMoves(Protocol):
    """Counts of the people of an organization, by how a connection would link them."""

    def of_domain(
        self, organization_id: UUID, domain: str, *, connection_id: UUID | None, limit: int
    ) -> Sequence[Arriving]:
        """Count the members and end users with an address in a mail domain, for one connection or for each.

        At most `limit` connections, the oldest first.
        """
        ...

    def of_linked(self, organization_id: UUID, connection_id: UUID) -> Arriving | None:
        """Count the people that a connection has linked, as if they were not linked; None without the connection."""
        ...


class TrialSignIns(Protocol):
    """Trials by the hash of their state; of several concurrent calls that use one up, one gets it.

    Trials of organizations that are not active are never found.
    """

    def add(self, trial: TrialSignIn, state_hash: bytes) -> None:
        """Store a trial that begins, and delete the expired trials of its connection that got no answer."""
        ...

    def use(self, state_hash: bytes, *, session_id: UUID | None, visit_hash: bytes | None) -> TrialSignIn | None:
        """Use up a trial of this session, or of this visit of a setup link, that has no answer yet.

        None when there is none, or it has expired.
        """
        ...

    def find_open(self, state_hash: bytes, connection_id: UUID) -> TrialSignIn | None:
        """Return a trial of a connection that has no answer yet; None as `use`."""
        ...

    def keep_answer(self, state_hash: bytes, connection_id: UUID, answer: TrialAnswer, *, continue_hash: bytes) -> bool:
        """Use up a trial, store its answer, and give it another state; False where `use` returns None."""
        ...

    def use_answered(
        self, state_hash: bytes, connection_id: UUID, *, session_id: UUID | None, visit_hash: bytes | None
    ) -> TrialSignIn | None:
        """Conclude and return an answered trial, replacing the last concluded one of its connection; None as `use`."""
        ...

    def conclude(self, organization_id: UUID, trial_id: UUID, answer: TrialAnswer) -> None:
        """Store the answer of a trial, replacing the last concluded one; do nothing when its connection is gone."""
        ...

    def last(self, organization_id: UUID, connection_id: UUID) -> TrialResult | None:
        """Return the trial of a connection that was concluded last; None when there is none."""
        ...

    def last_of_each(self, organization_id: UUID) -> Sequence[TrialResult]:
        """Return the trial of each connection that was concluded last."""
        ...


class UpstreamFailures(Protocol):
    """The problems of connections; they end with their connection."""

    def add(
        self,
        organization_id: UUID,
        connection_id: UUID,
        problem: ProviderProblem,
        *,
        at: datetime,
        request_id: str,
        series: timedelta,
    ) -> None:
        """Count a problem of a connection; do nothing when the organization has no such connection.

        A problem that has not occurred for the time `series` is counted from one again.
        """
        ...

    def of_connection(self, organization_id: UUID, connection_id: UUID, *, limit: int) -> Sequence[UpstreamFailure]:
        """List the problems of a connection, the newest first."""
        ...

    def last_of_each(self, organization_id: UUID) -> Mapping[UUID, UpstreamFailure]:
        """Return the newest problem of each connection of an organization that has one, by the connection's id."""
        ...

    def save_check(
        self, organization_id: UUID, connection_id: UUID, problem: ProviderProblem | None, *, at: datetime
    ) -> None:
        """Store the result of a check of a connection."""
        ...

    def progress(self, organization_id: UUID) -> Sequence[ConnectionProgress]:
        """Return the progress of each connection of an organization."""
        ...


class ProviderSessions(Protocol):
    """One for each session that a connection began; it stays after the session has ended, until that is deleted."""

    def put(self, organization_id: UUID, connection_id: UUID, session_id: UUID, known: ProviderSession) -> None:
        """Store the provider's name of a session, replacing an earlier one."""
        ...

    def named(
        self, organization_id: UUID, connection_id: UUID, name: str, indexes: Sequence[str], *, limit: int
    ) -> Sequence[UUID]:
        """List the sessions that a connection has begun under a name: the newest first, but ended ones last.

        A user who signs in daily has many ended ones, which must not push a live one beyond the limit. With indexes,
        only sessions with one of these; a session whose provider has named no index fits every index.
        """
        ...

    def of_index(self, organization_id: UUID, connection_id: UUID, index: str, *, limit: int) -> Sequence[UUID]:
        """List the sessions of all users that a connection has begun under an index, in the same order."""
        ...

    def forget_token(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> None:
        """Delete the ID token of a session after it was sent back to its provider."""
        ...

    def find(self, organization_id: UUID, connection_id: UUID, session_id: UUID) -> ProviderSession | None:
        """Return the provider's name of a session; None when it has none."""
        ...


class OauthCredentials(Protocol):
    """Credentials by organization and provider; the secrets are encrypted."""

    def find(self, organization_id: UUID, external: ExternalProvider) -> ProviderClient | None:
        """Return the credentials of an organization at a provider; None when it has none for the present issuer."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[StoredCredentials]:
        """Return all credentials of an organization without their secrets, by the name of the provider."""
        ...

    def save(self, organization_id: UUID, external: ExternalProvider, client: ProviderClient) -> None:
        """Store the credentials of an organization at a provider, replacing earlier ones."""
        ...

    def remove(self, organization_id: UUID, provider: Provider) -> bool:
        """Delete the credentials of an organization at a provider; False when it has none."""
        ...
