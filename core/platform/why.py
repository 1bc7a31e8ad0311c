"""Why a person cannot sign in: the answer for those who help, with every rule in its order and the last attempts.

An organization is answered in `why_for_organizations.py`, also as a vendor or a customer, and the platform in
`why_for_platform.py`. Both use `why_asked.py`, which has the rules walked (`sign_in_walks.py`) and leaves out what the
one who asks may not know. What a vendor and a customer learn of each other's people is in `explained_customers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.group_roles import ExplainedRole
from core.platform.explained_customers import ExplainedCustomer
from core.platform.sign_in_checks import SignInWalk
from core.sign_in.sign_ins import SignIn
from core.sign_in.upstream.failures import UpstreamFailure

ATTEMPTS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedAccount:
    """The account that the question is about; `is_told` says whether what concerns it alone is told."""

    id: UUID
    email: str
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionProblems:
    """Why sign-ins by a connection failed lately, of which it is not known whose they were."""

    connection_id: UUID
    name: str
    failures: Sequence[UpstreamFailure]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInExplanation:
    """The answer: the account, None where the context knows none, a walk for each way, and what was tried lately.

    `attempts` are the newest first. `role` is that of a member of the organization that is asked about. `customer` is
    the one that the question names, None where it names none that is known. `mail_domain` is that of the organization
    that asks, where it knows no account in it that the question is about.
    """

    account: ExplainedAccount | None
    walks: tuple[SignInWalk, ...]
    attempts: Sequence[SignIn]
    problems: tuple[ConnectionProblems, ...]
    role: ExplainedRole | None = None
    customer: ExplainedCustomer | None = None
    mail_domain: str | None = None
