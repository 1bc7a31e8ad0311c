"""Reading the sign-ins at products, for the organizations that use them."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.product_sign_ins import ProductSignIn
from core.customers.products import Product
from core.sign_in.sign_ins import Scope


class ProductSignIns(Protocol):
    """The login events of a customer's record, in the descending order of their ids."""

    def newest(
        self, organization_id: UUID, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return the newest sign-ins at a product of an organization, or those before the one with an id.

        With `succeeded`, only those that succeeded, or only those that did not. They name a person from when that
        person was a confirmed member or end user of the organization, and no connection but its own.
        """
        ...

    def of_person(
        self, user_id: UUID, scope: Scope, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return the sign-ins of one person in the scope of the organization, as `newest` does."""
        ...
