"""Trial sign-ins: a real sign-in at the provider of a connection, which begins no session.

An administrator tests a connection by it, even one that is switched off. It leaves and comes back as every sign-in
does, and its answer is verified by the same rules. It is stored apart from sign-ins, so that no state of a trial ever
completes a sign-in, nor the other way round: nothing is linked or provisioned.

The holder of a setup link tests in the same way. A trial is bound to the browser session, or to the visit of the link,
that began it, is good for one answer, and expires. What the provider says of the user is foreign input: it is cut to a
limit, and characters that cannot be printed are replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations import link_callers
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.secrets import Secret, hash_token
from core.sign_in.identities import AssertedGroups, IdentityContext, ProvenIdentity
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import flows
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.connections import connections, setup_states
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.connections.setup_states import ConnectionSetupState
from core.sign_in.upstream.flows import Departure, ProviderClient, SignInOver, UpstreamSignIn
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.saml import SamlAssertion

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# No state of a sign-in begins so: the characters of a token have no tilde.
STATE_PREFIX: Final = "trial~"
CLAIMS_MAX: Final = 40
NAME_CHARACTERS_MAX: Final = 100
VALUE_CHARACTERS_MAX: Final = 500
REASON_CHARACTERS_MAX: Final = 300
# Claims that say nothing of the user.
_LEFT_OUT: Final = frozenset({"nonce", "at_hash", "c_hash", "s_hash"})
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


class NothingToTry(BadRequest):
    """The connection has no metadata, so that no browser can be sent to its identity provider."""

    default_message = "Save the metadata of the identity provider first. Then the connection can be tested."


class TrialGroups(StrEnum):
    """What an answer says of the groups of its user."""

    SENT = "sent"
    TOO_MANY = "too_many"
    NOT_SENT = "not_sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialBrowser:
    """A browser that comes back from a provider: its session, None without one, and its cookie of a setup link."""

    session_id: UUID | None
    setup_cookie: str = field(default="", repr=False)

    @property
    def visit_hash(self) -> bytes | None:
        """The hash of the cookie of a setup link; None without one."""
        return hash_token(self.setup_cookie) if self.setup_cookie else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSignIn:
    """A trial that is under way: its connection as it was, and where it began.

    It began in a browser session of a user, or in a visit of a setup link.
    """

    id: UUID
    organization_id: UUID
    organization_slug: str
    connection_id: UUID
    user_id: UUID | None
    session_id: UUID | None
    visit_hash: bytes | None
    client_id: str | None
    tested_as: bytes
    expires_at: datetime

    @property
    def is_by_link(self) -> bool:
        """Whether the holder of a setup link has begun it."""
        return self.session_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAnswer:
    """The answer to a trial: the user that the provider has signed in there, or the problem for which it was refused.

    `claims` are names and texts that are safe to store; `reason` is what the log says of a problem. `groups` is None
    where it is not known.
    """

    problem: ProviderProblem | None = None
    reason: str = ""
    subject: str | None = None
    email: str | None = None
    claims: tuple[tuple[str, str], ...] = ()
    groups: TrialGroups | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """The last trial of a connection, and who has begun it: None for the holder of a setup link.

    `tested_as` shows whether the connection is still the same. `is_without_persons`: the reader must not see the
    answer.
    """

    connection_id: UUID
    concluded_at: datetime
    begun_by: str | None
    tested_as: bytes
    answer: TrialAnswer = field(default_factory=TrialAnswer)
    is_without_persons: bool = False

    def is_of(self, connection: ConnectionRecord) -> bool:
        """Return whether the connection leads where it led in the trial."""
        return self.tested_as == fingerprint(connection)

    def has_succeeded(self, connection: ConnectionRecord) -> bool:
        """Return whether the provider has signed a user in with the connection as it is."""
        return self.answer.problem is None and self.is_of(connection)

    def for_link(self) -> TrialResult:
        """Return what the holder of a setup link sees: of a member's trial neither the member nor the answer."""
        if self.begun_by is None:
            return self
        return replace(self, begun_by=None, answer=TrialAnswer(problem=self.answer.problem), is_without_persons=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedTrial:
    """A trial by OpenID Connect whose browser has come back, with its connection and our credentials there."""

    trial: TrialSignIn
    target: OpenConnection
    departure: Departure
    client: ProviderClient


def is_trial(state: str) -> bool:
    """Return whether a state, or the id under which a browser goes on, belongs to a trial."""
    return state.startswith(STATE_PREFIX)


def fingerprint(connection: ConnectionRecord) -> bytes:
    """Return the hash of what decides where a connection leads, and how its answers are read."""
    leading = [
        *(connection.issuer, connection.client_id, connection.scopes, connection.metadata_url, connection.metadata_xml),
        sorted(connection.attribute_mapping.items()),
        # Left out without one, so that trials of earlier versions count.
        *((connection.name_id_format,) if connection.name_id_format is not None else ()),
    ]
    return hashlib.sha256(json.dumps(leading).encode()).digest()


def find(uow: UnitOfWork, slug: str, connection_id: UUID) -> OpenConnection:
    """Return the connection that a caller wants to try, enabled or not; raise `ConnectionUnknown` or `NothingToTry`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_CHANGE).organization
    connection = connections.found(uow.upstream_connections.find(organization.id, connection_id))
    if connection.issuer is None:
        raise NothingToTry
    return _target(slug, organization.id, connection)


def begin(uow: UnitOfWork, slug: str, target: OpenConnection) -> Departure:
    """Store that the caller's browser goes to the provider of a connection, and return what it takes along."""
    authorized = authorize(uow, slug, Operation.CONNECTIONS_CHANGE)
    assert authorized.organization.id == target.organization_id, "a connection of another organization is tried"
    caller, connection = authorized.caller, target.connection
    link = caller.limits.link
    trial = TrialSignIn(
        id=uow.randomness.new_id(),
        organization_id=target.organization_id,
        organization_slug=target.organization_slug,
        connection_id=connection.id,
        user_id=caller.account.id if link is None else None,
        session_id=caller.session.id if link is None else None,
        visit_hash=link.visit_hash if link is not None else None,
        client_id=connection.client_id,
        tested_as=fingerprint(connection),
        expires_at=uow.now + flows.LIFETIME,
    )
    state = _state(uow)
    uow.trial_sign_ins.add(trial, _hash(state))
    return flows.departure(uow, _sign_in(trial), state)


def fail(uow: UnitOfWork, begun: Departure, answer: TrialAnswer) -> None:
    """Record a trial that could not leave, because the provider did not answer as it should."""
    organization_id = begun.sign_in.context.organization_id
    assert organization_id is not None, "a trial names no organization"
    uow.trial_sign_ins.conclude(organization_id, begun.sign_in.id, answer)


def arrive(uow: UnitOfWork, state: str, browser: TrialBrowser) -> ArrivedTrial:
    """Use up the state of a trial by OpenID Connect, in the browser that began it.

    Raise `SignInOver` in any other, and when the connection was changed since; and as `authorize`, or `SetupLinkDead`.
    """
    trial = uow.trial_sign_ins.use(_hash(Secret(state)), session_id=browser.session_id, visit_hash=browser.visit_hash)
    if trial is None:
        raise SignInOver().because("unknown_state")
    target = _of_trial(uow, trial)
    connection = target.connection
    assert connection.issuer is not None, "a connection has lost its issuer"
    client = uow.upstream_connections.client_of(
        trial.organization_id, connection.id, connection.issuer, is_to_be_tested=True
    )
    if client is None:
        raise SignInOver().because(SignInReason.CONNECTION_CHANGED)
    departure = flows.departure(uow, _sign_in(trial), Secret(state))
    return ArrivedTrial(trial=trial, target=target, departure=departure, client=client)


def conclude(uow: UnitOfWork, arrived: ArrivedTrial, answer: TrialAnswer) -> None:
    """Store what a trial has brought, in place of the one before."""
    uow.trial_sign_ins.conclude(arrived.trial.organization_id, arrived.trial.id, answer)
    if answer.problem is None:
        _note_tested(uow, arrived.trial)


def find_posted(uow: UnitOfWork, connection_id: UUID, state: str) -> OpenConnection:
    """Return the connection of a trial by SAML whose answer another site has posted; raise `SignInOver`.

    Such a request has no cookie; the browser is recognized when it goes on.
    """
    trial = uow.trial_sign_ins.find_open(_hash(Secret(state)), connection_id)
    if trial is None:
        raise SignInOver().because("unknown_state")
    target = _unchanged(uow, trial)
    if not target.connection.is_saml:
        raise SignInOver().because("of_another_connection")
    return target


def keep_answer(uow: UnitOfWork, connection_id: UUID, state: str, answer: TrialAnswer) -> Secret:
    """Use up the state of a posted answer; return the id under which its browser goes on. Raise `SignInOver`."""
    continue_id = _state(uow)
    if not uow.trial_sign_ins.keep_answer(
        _hash(Secret(state)), connection_id, answer, continue_hash=_hash(continue_id)
    ):
        raise SignInOver().because("unknown_state")
    return continue_id


def conclude_posted(uow: UnitOfWork, connection_id: UUID, continue_id: str, browser: TrialBrowser) -> TrialSignIn:
    """Conclude a trial by SAML in the browser that began it, and return it; raise as `arrive`."""
    trial = uow.trial_sign_ins.use_answered(
        _hash(Secret(continue_id)), connection_id, session_id=browser.session_id, visit_hash=browser.visit_hash
    )
    if trial is None:
        raise SignInOver().because("unknown_continuation")
    _of_trial(uow, trial)
    stored = uow.trial_sign_ins.last(trial.organization_id, connection_id)
    if stored is not None and stored.answer.problem is None:
        _note_tested(uow, trial)
    return trial


def answer_of(
    *,
    claims: Iterable[tuple[str, Any]],
    proven: ProvenIdentity | None = None,
    problem: ProviderProblem | None = None,
    reason: str = "",
) -> TrialAnswer:
    """Return what is kept of an answer: a limited number of its claims, each cut to a limit."""
    return TrialAnswer(
        problem=problem,
        reason=_printable(reason, REASON_CHARACTERS_MAX),
        subject=_printable(proven.subject, VALUE_CHARACTERS_MAX) if proven is not None else None,
        email=_printable(proven.email, VALUE_CHARACTERS_MAX) if proven is not None and proven.email else None,
        groups=_groups(proven.groups) if proven is not None else None,
        claims=tuple(
            (_printable(name, NAME_CHARACTERS_MAX), _printable(_text(value), VALUE_CHARACTERS_MAX))
            for name, value in list(claims)[:CLAIMS_MAX]
        ),
    )


def claims_of_token(claims: Mapping[str, Any] | None) -> Sequence[tuple[str, Any]]:
    """Return what an ID token and the description of the user say of them, without what only protects the token."""
    return [(name, value) for name, value in (claims or {}).items() if name not in _LEFT_OUT]


def claims_of_assertion(assertion: SamlAssertion | None) -> Sequence[tuple[str, Any]]:
    """Return the statements of an assertion about its user: the name, its format, and the attributes."""
    if assertion is None:
        return []
    attributes = [(name, ", ".join(values)) for name, values in assertion.attributes.items()]
    return [("NameID", assertion.name_id), ("NameID Format", assertion.name_id_format or ""), *attributes]


def _note_tested(uow: UnitOfWork, trial: TrialSignIn) -> None:
    setup_states.change(uow, trial.organization_id, trial.connection_id, ConnectionSetupState.TESTED)


def _groups(asserted: AssertedGroups | None) -> TrialGroups:
    if asserted is None:
        return TrialGroups.NOT_SENT
    return TrialGroups.TOO_MANY if asserted.values is None else TrialGroups.SENT


def _of_trial(uow: UnitOfWork, trial: TrialSignIn) -> OpenConnection:
    """Return the connection of a trial to the person who has begun it, and who must still be allowed to do so."""
    if trial.visit_hash is not None:
        # The visit of the cookie belongs to one link, and so to one organization.
        link_callers.identify(uow.setup_links.caller_of_visit(trial.visit_hash)).require(Operation.CONNECTIONS_CHANGE)
    else:
        authorize(uow, trial.organization_slug, Operation.CONNECTIONS_CHANGE)
    return _unchanged(uow, trial)


def _unchanged(uow: UnitOfWork, trial: TrialSignIn) -> OpenConnection:
    connection = uow.upstream_connections.find(trial.organization_id, trial.connection_id)
    if connection is None or fingerprint(connection) != trial.tested_as:
        raise SignInOver().because(SignInReason.CONNECTION_CHANGED)
    return _target(trial.organization_slug, trial.organization_id, connection)


def _target(slug: str, organization_id: UUID, connection: ConnectionRecord) -> OpenConnection:
    context = IdentityContext(organization_id=organization_id, connection_id=connection.id)
    return OpenConnection(
        organization_slug=slug, organization_id=organization_id, connection=connection, context=context
    )


def _sign_in(trial: TrialSignIn) -> UpstreamSignIn:
    """Return a trial in the form that travels to a provider. No sign-in has its id, so that it concludes nothing."""
    return UpstreamSignIn(
        id=trial.id,
        provider=Provider.UPSTREAM,
        context=IdentityContext(organization_id=trial.organization_id, connection_id=trial.connection_id),
        client_id=trial.client_id,
        expires_at=trial.expires_at,
    )


def _state(uow: UnitOfWork) -> Secret:
    return Secret(STATE_PREFIX + uow.randomness.token().reveal())


def _hash(state: Secret) -> bytes:
    return hash_token(state.reveal())


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"


def _printable(text: str, characters_max: int) -> str:
    """Return the beginning of a text, with a replacement for each character that cannot be printed."""
    cut = text[:characters_max] + ("…" if len(text) > characters_max else "")
    return "".join(character if character.isprintable() else _REPLACEMENT for character in cut)
