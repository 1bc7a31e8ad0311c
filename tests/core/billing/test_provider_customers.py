"""The metadata by which the payment provider keeps the owner of a customer."""

from dataclasses import replace
from uuid import UUID

from core.billing.provider_customers import CustomerCreation

ACME = CustomerCreation(organization_id=UUID(int=1), name="Acme", idempotency_key="key")


def test_the_customer_of_an_end_user_names_no_organization_which_it_would_bind() -> None:
    of_user = replace(ACME, service_id=UUID(int=2), user_id=UUID(int=3))

    assert ACME.metadata["org_id"] == str(UUID(int=1))
    assert of_user.metadata["user_id"] == str(UUID(int=3))
    assert "org_id" not in of_user.metadata
