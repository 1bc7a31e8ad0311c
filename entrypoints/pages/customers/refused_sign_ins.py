"""The texts about refused sign-ins on the page of a customer: the reason that the vendor may see, and advice."""

from collections.abc import Sequence
from typing import Final, TypeAlias
from uuid import UUID

from core.customers.refused_sign_ins import RefusedSignIn
from core.sign_in.reasons import SignInReason
from core.tables import PartialTable
from entrypoints.pages.console.frame import page_of, with_query
from entrypoints.pages.frame.languages import marked

# Of what the vendor is not told.
UNTOLD: Final = (
    marked("A rule of the customer refused it, or the state of the account. Only the customer sees which."),
    marked("The person asks an administrator of the customer, where the reason is shown."),
)
# By the reason that the vendor sees.
WORDS: Final = PartialTable(
    {
        SignInReason.CUSTOMER_CLOSED: (
            marked("The service was not open to the person for this customer."),
            marked("Look above whether it is paused. If not, the customer has suspended the person or admits others."),
        ),
        SignInReason.CONSENT_REFUSED: (
            marked("The person did not continue."),
            marked("The person signs in again, and presses Continue."),
        ),
        SignInReason.NO_AUTHN_CONTEXT: (
            marked("Your service asked for a stronger sign-in than this one."),
            marked("The person signs in with a second factor, or your service asks for less."),
        ),
        SignInReason.ORGANIZATION_NOT_ACTIVE: (
            marked("Your organization was not active."),
            marked("The person signs in again once it is."),
        ),
        SignInReason.OTHER_SUBJECT: (
            marked("Your service asked for another account than the one that was signed in."),
            marked("The person signs out, and signs in with the other account."),
        ),
        SignInReason.OTHER_WAY: (
            marked("Your service has a security profile, and had not pushed the request."),
            marked("The person begins at your service."),
        ),
        SignInReason.REQUEST_UNSUPPORTED: (
            marked("Your service asked for something that its SAML configuration does not offer."),
            marked("Compare the request with the SAML configuration of the service."),
        ),
        SignInReason.SUSPENDED: (
            marked("The person is a member of your organization, and suspended there."),
            marked("Your directory lifts that, or another account is used."),
        ),
    }
)

ShownRefusal: TypeAlias = tuple[RefusedSignIn, str, str, str]


def shown(refused: Sequence[RefusedSignIn], org_slug: str, service_slug: str, customer_id: UUID) -> list[ShownRefusal]:
    """Return each with why it was refused, what to do, and the page that names every rule for its person."""
    why = f"{page_of(org_slug)}/why"
    return [
        (
            one,
            *(WORDS.get(one.reason, UNTOLD) if one.reason is not None else UNTOLD),
            with_query(why, email=one.email, service=service_slug, customer=customer_id),
        )
        for one in refused
    ]
