"""A question about a sign-in, by people who help: the person, the place and the way (`why.py` answers it)."""

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
    """The person, the place and the way of a sign-in in question.

    An address or an id names the person. Without a way every way is walked; `connection_id` names a connection of the
    organization. `network` is the network of the attempt, None when it is not known. `by_saml` says whether the sign-in
    to the service is by SAML; None means that it is, if the service is set up for that.

    `customer` names a customer of the service by its id or slug, and is empty for a user without a customer. `product`
    is the client id of another organization's service that the asking organization uses as a customer.
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
        """Whether the question names the person."""
        return bool(self.email) or self.user_id is not None

    @property
    def narrowing(self) -> Narrowing:
        """The person of the question; the form is checked."""
        return Narrowing(text=self.email.strip().lower() or None, id=self.user_id, network=self.network)

    def checked(self) -> SignInQuestion:
        """Return the question with the typed network in the form of the counts.

        Raise `BadRequest` for a question without a user, a customer without its service, or an invalid network.
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
