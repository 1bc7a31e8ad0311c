"""Rules of signing in that are judged without a database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from core.sessions.confinement import Confinement
from core.sign_in.customer_choices import INDIVIDUALLY
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import OF_DESTINATION, Candidate, Rule
from tests.world.builder import new_id

ACME, GLOBEX, SHOP = new_id(), new_id(), new_id()


def judged(confinement: Confinement | None, organization_id: UUID, service_id: UUID | None = None) -> Any:
    """Return why a sign-in with this confinement is refused there; None when it is not."""
    candidate = SimpleNamespace(
        proof=SimpleNamespace(confinement=confinement),
        choice=INDIVIDUALLY,
        place=SimpleNamespace(organization_id=organization_id, service_id=service_id, customer=None),
    )
    [rule] = [one for one in OF_DESTINATION if one.name is Rule.CONFINEMENT]
    refusal = rule.judge(cast("Candidate", candidate))
    return refusal.reason if refusal is not None else None


def test_a_sign_in_for_one_organization_alone_leads_to_no_other_one() -> None:
    confinement = Confinement(organization_id=ACME)

    assert judged(None, GLOBEX) is None
    assert judged(confinement, ACME, SHOP) is None
    assert judged(confinement, GLOBEX) is SignInReason.CONFINED_ELSEWHERE
