"""A question of those who help: whose sign-in is explained, and which (`why.py` answers it)."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from core.accounts.helped_accounts import Narrowing
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.networks import typed_network
from core.platform.sign_in_checks import SignInWay


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInQuestion:
    """Whose sign-in is asked about, and which.

    The person is named by an address or an id. Without a way every way is walked; `connection_id` names one of the
    organization. `network` is that of the attempt, None when it is not known. `by_saml` says whether a service is
    signed in to by SAML; None means that it is, if it is set up for that.

    `customer` names a customer of the service by its id or slug, and is empty for a user who comes as an individual.
    `product` is the client id of a service of another organization, of which the one that asks is a customer.
    """

    email: str = ""
    user_id: UUID | None = None
    service_slug: str | None = None
    way: SignInWay | None = None
    connection_id: UUID | None = None
    network: str | None = None
    by_saml: bool | None = None
    customer: str | None = None
    product: UUID | None = None

    @property
    def names_user(self) -> bool:
        """Whether the question says whose sign-in it is about."""
        return bool(self.email) or self.user_id is not None

    @property
    def narrowing(self) -> Narrowing:
        """Whom the question is about, which is checked."""
        return Narrowing(text=self.email.strip().lower() or None, id=self.user_id, network=self.network)

    def checked(self) -> SignInQuestion:
        """Return the question with the network that is counted for the one that was typed.

        Raise `BadRequest` for a question that names no user, a customer without its service, or something else than a
        network.
        """
        if not self.names_user:
            raise BadRequest.of_field("email", "Enter the email address of the user, or their id.")
        self.require_service()
        if self.network is None:
            return self
        network = typed_network(self.network)
        if network is None:
            raise BadRequest.of_field(
                "network", "This is no network address. Enter one like 192.0.2.7, or leave it out."
            )
        return replace(self, network=network)

    def require_service(self) -> None:
        """Raise `BadRequest` for a customer without its service, or for a service that is named twice."""
        if self.customer is not None and self.service_slug is None:
            raise BadRequest.of_field("service", "Name the service that the customer uses.")
        if self.product is not None and self.service_slug is not None:
            raise BadRequest.of_field("product", "Name either one of your services or a product that you use.")
