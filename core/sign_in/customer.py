"""Choosing the customer of a service for which one signs in, where the sign-in itself could not tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.sign_in import conclusion, mfa_challenges
from core.sign_in.customer_choices import AS_INDIVIDUAL

if TYPE_CHECKING:
    from core.errors import Refusal
    from core.sign_in.mfa_challenges import SignInCompleted
    from core.sign_in.proofs import Destination
    from ports.unit_of_work import UnitOfWork


def choose(uow: UnitOfWork, token: str, customer: str | None, client: Destination, /) -> SignInCompleted | Refusal:
    """Complete the sign-in of a token for a customer, named by its id or slug, or as an individual for None.

    The sign-in is judged again as a whole, because minutes have passed. `client` has the device that sends the token.
    Raise `CustomerTokenOver`.
    """
    user, challenge = mfa_challenges.use_customer_token(uow, token)
    destination = replace(
        challenge.destination,
        device_token=client.device_token,
        customer=AS_INDIVIDUAL if customer is None else customer,
        asks_for_customer=False,
    )
    return conclusion.conclude_for_customer(uow, user, challenge, destination)
