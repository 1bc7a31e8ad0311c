"""Reading the refused sign-ins for customers, for their vendor."""

from collections.abc import Sequence, Set
from typing import Protocol

from core.customers.customers import ServiceCustomer
from core.customers.refused_sign_ins import RefusedSignIn
from core.services.services import Service
from core.sign_in.reasons import SignInReason


class RefusedSignIns(Protocol):
    """Refused sign-ins for customers of services, by people that their vendors see."""

    def newest(
        self,
        service: Service,
        customer: ServiceCustomer,
        *,
        without: Set[SignInReason],
        looked_at_max: int,
        limit: int,
    ) -> Sequence[RefusedSignIn]:
        """Return the newest ones for a customer, with their reasons, except for the reasons in `without`.

        They are of confirmed members who had signed in for the customer before and, where it shares its directory, of
        those who may use the service now. No more than `looked_at_max` are read.
        """
        ...
