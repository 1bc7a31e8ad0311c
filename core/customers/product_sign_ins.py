"""The sign-ins of an organization's people at a product that it uses, also refused ones.

The sign-ins of one person at all products are in `core/sign_in/sign_ins.py`; what the vendor sees is in
`refused_sign_ins.py`. The list belongs to one customer record: after an end, a new record has none of the earlier
sign-ins. It names people of the organization only from the time when they confirmed their membership on, as
`core/audit/sign_in_log.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import products
from core.customers.products import Product, ProductUnknown
from core.email_addresses import canonical_email
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import Position
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import Scope, SignInOutcome, outcome_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSignIn:
    """A sign-in at a product; `reason` is None for one that succeeded.

    The fields that name the person, such as `email`, are None for a person who no longer belongs to the organization.
    `is_member` is False for a person who by now is only an end user of the organization's own services.
    """

    id: UUID
    created_at: datetime
    provider: str
    reason: SignInReason | None
    connection_name: str | None
    user_id: UUID | None
    email: str | None
    name: str | None
    is_member: bool
    mailed_proof: str | None = None

    @property
    def position(self) -> Position:
        """Its place in the list."""
        return Position(at=self.created_at, id=self.id)

    @property
    def outcome(self) -> SignInOutcome:
        """The outcome."""
        return outcome_of(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSignInFilter:
    """The sign-ins to find: by outcome, and by the whole address of a person."""

    succeeded: bool | None
    email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductSignInRows:
    """A part of the sign-ins at a product, the newest first; the list goes on at `next`, None at its end."""

    found: Sequence[ProductSignIn]
    next: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInsAtProduct:
    """A product and a part of its sign-ins."""

    product: Product
    rows: ProductSignInRows


def search(
    uow: UnitOfWork, slug: str, client_id: UUID, *, wanted: ProductSignInFilter, after: Position | None, limit: int
) -> SignInsAtProduct:
    """Find sign-ins at a product that the organization uses, the newest first; raise `ProductUnknown`.

    The address of any other person finds nothing, as if the person had never signed in there.
    """
    organization_id, product = _opened(uow, slug, client_id)
    # One more than the page shows tells whether more follow.
    found = _found(uow, organization_id, product, wanted, after, limit + 1)
    shown = found[:limit]
    rows = ProductSignInRows(found=shown, next=shown[-1].position if len(found) > limit else None)
    return SignInsAtProduct(product=product, rows=rows)


def listed(
    uow: UnitOfWork, slug: str, client_id: UUID, *, wanted: ProductSignInFilter, after: Position | None, limit: int
) -> Sequence[ProductSignIn]:
    """Return a part of what `search` finds; for files."""
    organization_id, product = _opened(uow, slug, client_id)
    return _found(uow, organization_id, product, wanted, after, limit)


def _opened(uow: UnitOfWork, slug: str, client_id: UUID) -> tuple[UUID, Product]:
    organization_id = authorize(uow, slug, Operation.SIGN_INS_READ).organization.id
    product = products.show(uow, slug, client_id)
    if not product.is_accepted:
        raise ProductUnknown
    return organization_id, product


def _found(
    uow: UnitOfWork,
    organization_id: UUID,
    product: Product,
    wanted: ProductSignInFilter,
    after: Position | None,
    limit: int,
) -> Sequence[ProductSignIn]:
    after_id = after.id if after is not None else None
    if wanted.email is None:
        return uow.elsewhere.product_sign_ins.newest(
            organization_id, product, succeeded=wanted.succeeded, after=after_id, limit=limit
        )
    user_id = uow.sign_ins.affiliated(organization_id, canonical_email(wanted.email, uow.domain_names.to_ascii))
    affiliation = uow.sign_ins.affiliation(organization_id, user_id) if user_id is not None else None
    if user_id is None or affiliation is None or affiliation.since is None:
        return ()
    scope = Scope(organization_id=organization_id, since=affiliation.since)
    return uow.elsewhere.product_sign_ins.of_person(
        user_id, scope, product, succeeded=wanted.succeeded, after=after_id, limit=limit
    )
