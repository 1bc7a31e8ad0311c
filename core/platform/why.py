"""Why a person cannot sign in: the answer for people who help, with every rule in its order and the last attempts.

`why_answers.py` answers the platform, and an organization, also as a vendor or a customer. It uses `why_asked.py`,
which lets the rules judge (`core/sign_in/rules.py`) and leaves out what the asking side may not know. What a vendor and
a customer see of each other's people is in `explained_customers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.explained_roles import ExplainedRole
from core.platform.explained_customers import ExplainedCustomer, ExplainedSetup
from core.platform.sign_in_checks import RuleVerdict, SignInWalk
from core.sign_in.own_account import NamedConnection
from core.sign_in.rules import Rule
from core.sign_in.sign_ins import SignIn
from core.sign_in.upstream.connections.failures import SHOWN_MAX, UpstreamFailure

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ATTEMPTS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedAccount:
    """The account of the question; `is_told` says whether the answer includes what concerns the account alone."""

    id: UUID
    email: str
    is_told: bool


class AwaitedStep(StrEnum):
    """The next step of a user whose organization requires a connection."""

    # Sign in by it, and nothing more.
    CONNECTION = "connection"
    # Sign in by it, and type a code mailed to the address, once.
    MAILED_CODE = "mailed_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """What the next sign-in of a user needs, and its connection."""

    step: AwaitedStep
    connection: NamedConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionProblems:
    """Why sign-ins by a connection failed lately; their users are not known."""

    connection_id: UUID
    name: str
    failures: Sequence[UpstreamFailure]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInExplanation:
    """The answer: the account, None where the context knows none, a walk for each way, and the latest attempts.

    `attempts` has the newest first. `role` is the role of a member of the organization in question. `customer` is the
    customer that the question names, None where it names no known one. `mail_domain` is set if the address is in a mail
    domain of the asking organization, which knows no account of it. `setup` is what a vendor has made for the customer
    in question; None where the vendor may not see it, and for any other question.
    """

    account: ExplainedAccount | None
    walks: tuple[SignInWalk, ...]
    attempts: Sequence[SignIn]
    problems: tuple[ConnectionProblems, ...]
    role: ExplainedRole | None = None
    customer: ExplainedCustomer | None = None
    mail_domain: str | None = None
    setup: ExplainedSetup | None = None

    @property
    def next_step(self) -> NextStep | None:
        """The next step of a user whose organization requires a connection; None where no connection is required.

        None as well where that connection refuses them too, or the answer may not say what it needs.
        """
        checks = [check for walk in self.walks for check in walk.checks]
        refusing = (one for one in checks if one.rule is Rule.SINGLE_SIGN_ON and one.verdict is RuleVerdict.REFUSES)
        required = next((one.required for one in refusing if one.required is not None), None)
        if required is None:
            return None
        found = (one for one in self.walks if one.connection is not None and one.connection.id == required.id)
        step = next((_step_by(walk) for walk in found), None)
        return NextStep(step=step, connection=required) if step is not None else None


def problems_of(
    uow: UnitOfWork, organization_id: UUID, connections: Iterable[tuple[UUID, str]]
) -> tuple[ConnectionProblems, ...]:
    """Return why sign-ins by connections of an organization, given by their ids and names, failed lately."""
    found = [
        ConnectionProblems(
            connection_id=connection_id,
            name=name,
            failures=uow.upstream_failures.of_connection(organization_id, connection_id, limit=SHOWN_MAX),
        )
        for connection_id, name in connections
    ]
    return tuple(one for one in found if one.failures)


def _step_by(walk: SignInWalk) -> AwaitedStep | None:
    """Return what a walk by the required connection needs; None where it is refused, or may not be told."""
    refusal = walk.refusal
    if refusal is not None:
        return AwaitedStep.MAILED_CODE if refusal.rule is Rule.ADDRESS_CONFIRMED else None
    link = next((check.verdict for check in walk.checks if check.rule is Rule.LINK), RuleVerdict.PASSES)
    if link is RuleVerdict.NOT_TOLD:
        return None
    return AwaitedStep.MAILED_CODE if link is RuleVerdict.ASKS else AwaitedStep.CONNECTION
