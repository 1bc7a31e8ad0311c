"""Storage of the refused sign-ins for customers, as the vendor sees them."""

from collections.abc import Sequence, Set
from typing import Protocol

from core.customers.customers import ServiceCustomer
from core.customers.refused_sign_ins import RefusedSignIn
from core.services.services import Service
from core.sign_in.reasons import SignInReason


class RefusedSignIns(Protocol):
    """Refused sign-ins for customers of services, of people whom their vendors see."""

    def newest(
        self,
        service: Service,
        customer: ServiceCustomer,
        *,
        without: Set[SignInReason],
        looked_at_max: int,
        limit: int,
    ) -> Sequence[RefusedSignIn]:
        """Return the newest ones for a customer, with their reasons, without those that have one of these.

        They are of confirmed members who had signed in for the customer before, and where it shares its directory, of
        those whom it lets in now. No more than `looked_at_max` are looked at.
        """
        ...
