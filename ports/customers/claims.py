"""Reading the claims that tokens of a person would carry."""

from typing import Protocol
from uuid import UUID

from core.services.services import Service
from core.sessions.token_additions import TokenSubject


class TokenPreviews(Protocol):
    """The subjects of tokens of imagined sessions."""

    def subject(self, service: Service, user_id: UUID, customer_id: UUID | None) -> TokenSubject | None:
        """Return what `Callers.subject` would return for a session that began now, also for a service without claims.

        The sign-in that the customer requires counts as done. Without a customer, None for an account that is neither a
        confirmed member of the organization nor an end user who has signed in to the service.
        """
        ...
