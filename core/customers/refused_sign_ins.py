"""The latest refused sign-ins for a customer, as its vendor sees them: the person, and the reason.

They are recorded for a customer once the user has proved their identity (`core/sign_in/login_events.py`), and the
customer sees them among the sign-ins of its member. The vendor sees only people who had signed in for the customer
before and, where the customer shares its directory, people who may. Only the customer sees reasons that concern its own
rules or an account alone, as in `core/platform/explained_customers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers.customers import ServiceCustomer
from core.lazy_dataclasses import dataclass
from core.services.services import Service
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SHOWN_MAX: Final = 10
# The search for what the vendor may see looks at so many of a customer.
LOOKED_AT_MAX: Final = 200
# These are no refusals: the sign-in waits for its user, or an application asked in the background.
WAITING: Final = frozenset(
    {SignInReason.SECOND_FACTOR_ASKED, SignInReason.CUSTOMER_ASKED, SignInReason.INTERACTION_REQUIRED}
)
# The vendor sees these reasons, which tell nothing about the customer's rules and the account: how the service asks,
# what the person answered, and that the service is not open to a person that the vendor knows.
TOLD: Final = frozenset(
    {
        SignInReason.CUSTOMER_CLOSED,
        SignInReason.CONSENT_REFUSED,
        SignInReason.NO_AUTHN_CONTEXT,
        SignInReason.ORGANIZATION_NOT_ACTIVE,
        SignInReason.OTHER_SUBJECT,
        SignInReason.OTHER_WAY,
        SignInReason.REQUEST_UNSUPPORTED,
        SignInReason.SUSPENDED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSignIn:
    """A refused sign-in for a customer; `reason` is None for a reason that the vendor may not see."""

    id: UUID
    created_at: datetime
    user_id: UUID
    email: str
    name: str | None
    reason: SignInReason | None


def told(uow: UnitOfWork, service: Service, customer: ServiceCustomer) -> Sequence[RefusedSignIn]:
    """Return the latest refused sign-ins for a customer as its vendor sees them; the caller is authorized."""
    if not customer.is_accepted:
        return ()
    found = uow.elsewhere.refused_sign_ins.newest(
        service, customer, without=WAITING, looked_at_max=LOOKED_AT_MAX, limit=SHOWN_MAX
    )
    return [one if one.reason in TOLD else replace(one, reason=None) for one in found]
