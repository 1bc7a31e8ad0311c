"""The progress of the setup of customers, and what of it fails: for the list, and for one customer.

It covers the parts that the vendor may set up (`setup_callers.py`), as the calls that read each of them do, and whether
an organization that the vendor has made was rejected or suspended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import setup_callers
from core.customers.customers import ServiceCustomer
from core.customers.relation_log import CustomerState
from core.lazy_dataclasses import dataclass
from core.organizations.link_callers import Part
from core.services.services import Service
from core.sign_in.upstream.provider_problems import ProviderProblem

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# A call with this status or a higher one was refused.
_REFUSED: Final = 400


class SetupStep(StrEnum):
    """What the setup of a customer waits for until a person has signed in for it."""

    LINK_UNOPENED = "link_unopened"
    LINK_OPENED = "link_opened"
    TEST = "test"
    DOMAIN = "domain"
    DIRECTORY = "directory"
    SIGN_IN = "sign_in"


class TroubleKind(StrEnum):
    """What fails at a customer."""

    ORGANIZATION_REJECTED = "organization_rejected"
    ORGANIZATION_SUSPENDED = "organization_suspended"
    CONNECTION_FAILING = "connection_failing"
    # Switched off, because a takeover of its maker's account was undone.
    CONNECTION_OFF = "connection_off"
    # The proof is missing; the domain counts for seven days more.
    DOMAIN_FAILING = "domain_failing"
    DOMAIN_UNPROVED = "domain_unproved"
    DIRECTORY_EXPIRED = "directory_expired"
    DIRECTORY_REFUSED = "directory_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerTrouble:
    """Something that fails at a customer: its name, and since when.

    `problem` says why a connection fails; None for any other thing, and for a connection that was switched off.
    `detail` is the answer to a refused call of the directory; None for anything else.
    """

    customer_id: UUID
    kind: TroubleKind
    name: str
    since: datetime
    problem: ProviderProblem | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSoFar:
    """How much a vendor has made for a customer in the parts that it may set up, and its progress.

    `calling` counts the SCIM tokens that a directory has used, and `opened` the valid links that were opened.
    """

    customer_id: UUID
    connections: int
    tested: int
    mail_domains: int
    pending_domains: int
    scim_tokens: int
    calling: int
    group_rules: int
    setup_links: int
    opened: int

    @property
    def step(self) -> SetupStep | None:
        """What the setup waits for before the first sign-in; None where nothing is made."""
        if self.connections:
            if not self.tested:
                return SetupStep.TEST
            return SetupStep.DOMAIN if self.pending_domains else SetupStep.SIGN_IN
        if self.scim_tokens:
            return SetupStep.SIGN_IN if self.calling else SetupStep.DIRECTORY
        if self.setup_links:
            return SetupStep.LINK_OPENED if self.opened else SetupStep.LINK_UNOPENED
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupProgress:
    """What the setup of a customer waits for, None where it waits for nothing, what is made for it, and what fails.

    `made` is None where nothing ever was.
    """

    step: SetupStep | None = None
    made: MadeSoFar | None = None
    troubles: Sequence[CustomerTrouble] = field(default_factory=tuple[CustomerTrouble, ...])


def of_customers(
    uow: UnitOfWork, service: Service, customers: Sequence[ServiceCustomer]
) -> Mapping[UUID, SetupProgress]:
    """Return the progress of the setup of customers of a service, by their ids; the caller is authorized."""
    made = [one.id for one in customers if one.has_internal or one.is_unclaimed]
    if not made:
        return {one.id: SetupProgress() for one in customers}
    known = {one.customer_id: one for one in uow.elsewhere.customer_setup_progress.made(service, made)}
    troubles = defaultdict[UUID, list[CustomerTrouble]](list)
    for one in uow.elsewhere.customer_setup_progress.troubles(service, made):
        troubles[one.customer_id].append(one)
    return {one.id: _progress(one, known.get(one.id), troubles[one.id]) for one in customers}


def refused_call(uow: UnitOfWork, customer: ServiceCustomer) -> CustomerTrouble | None:
    """Return the last call of the directory of a customer, if it was refused; None where the vendor sees no directory.

    The log of calls may be on other machines than the rest, so the list of customers does not read it.
    """
    internal = uow.organizations.find_internal(customer.id)
    if internal is None or Part.SCIM not in setup_callers.open_parts(customer):
        return None
    entries = uow.scim_log.last_of_tokens(internal.id)
    last = max(entries, key=lambda one: one.id, default=None)
    if last is None or last.status < _REFUSED:
        return None
    return CustomerTrouble(
        customer_id=customer.id,
        kind=TroubleKind.DIRECTORY_REFUSED,
        name=last.token_name,
        since=last.created_at,
        detail=last.detail or str(last.status),
    )


def _progress(customer: ServiceCustomer, made: MadeSoFar | None, troubles: Sequence[CustomerTrouble]) -> SetupProgress:
    waits = customer.state is CustomerState.ACTIVE and customer.last_sign_in_at is None
    return SetupProgress(step=made.step if made is not None and waits else None, made=made, troubles=troubles)
