"""Storage of the sign-ins at products, as the organizations see them that use the products."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.product_sign_ins import ProductSignIn
from core.customers.products import Product
from core.sign_in.sign_ins import Scope


class ProductSignIns(Protocol):
    """The login events of a record that are kept; newest first is the order of their ids."""

    def newest(
        self, organization_id: UUID, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return the newest sign-ins at a product of an organization, or those before the one with an id.

        With `succeeded`, those that succeeded or those that did not. Who it was is named of members and end users of
        the organization alone, since they have confirmed that they are. Only its own connections are named.
        """
        ...

    def of_person(
        self, user_id: UUID, scope: Scope, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        """Return those of one person in the scope of the organization, as `newest` does."""
        ...
