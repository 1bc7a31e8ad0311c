"""A proof of the address is judged before it happens: the facts foretold are the facts read afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from core.accounts.sign_in_methods import Provider
from core.sign_in import effects, fact_reading
from core.sign_in.facts import SignInFacts, amended
from core.sign_in.proofs import Destination, IdentityProof
from ports.unit_of_work import UnitOfWork
from tests.tenants.entitling import decided
from tests.world.builder import Builder

EMAIL = "ada@globex.example"
ROLES = (None, "member", "owner")
STATES = [
    (is_verified, role, role_at_customer, has_domain, named)
    for is_verified, role, role_at_customer, has_domain in product((False, True), ROLES, ROLES, (False, True))
    for named in (None, "", "globex")
]


@pytest.mark.parametrize(("is_verified", "role", "role_at_customer", "has_domain", "named"), STATES)
def test_the_facts_after_a_proof_are_foretold(
    builder: Builder,
    transact: Callable[..., Any],
    is_verified: bool,
    role: str | None,
    role_at_customer: str | None,
    has_domain: bool,
    named: str | None,
) -> None:
    vendor, customer = builder.organization("acme"), builder.organization("globex")
    service = builder.service(vendor, "desk")
    builder.customer(service, customer)
    user_id = builder.user(EMAIL, is_verified=is_verified)
    if role is not None:
        builder.member(vendor, user_id, role)
    if role_at_customer is not None:
        builder.member(customer, user_id, role_at_customer)
    if has_domain:
        builder.mail_domain(customer, "globex.example")

    def compared(uow: UnitOfWork) -> tuple[SignInFacts, SignInFacts]:
        facts = SignInFacts(
            user=uow.users.lock(user_id),
            proof=IdentityProof(user_id=user_id, provider=Provider.MAGIC_LINK, amr=("email",), proves_address=True),
            destination=Destination(organization_slug="acme", service_slug="desk", customer=named),
            now=uow.now,
        )
        read = fact_reading.with_unconfirmed_access(uow, fact_reading.with_circumstances(uow, facts))
        foretold = amended(read)
        return foretold, fact_reading.with_unconfirmed_access(uow, effects.amend(uow, read))

    foretold, found = transact(compared)

    assert foretold.here.place == found.here.place
    assert foretold.here.target == found.here.target
    # A refusal is another object each time.
    assert decided(foretold.here.choice) == decided(found.here.choice)
    # A user who is not signing in is on no device.
    assert foretold.here.device is None
    assert foretold.account == replace(found.account, updated_at=foretold.account.updated_at)
    # The membership of an owner stays confirmed, and a place does not say that its member is one.
    assert foretold.has_unconfirmed_access == (True if role == "owner" else found.has_unconfirmed_access)
