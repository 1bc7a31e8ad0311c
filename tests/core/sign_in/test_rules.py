"""Rules of signing in that are judged without a database."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.sessions.caller_limits import Confinement
from core.sign_in.facts import Circumstances, SignInFacts
from core.sign_in.judgement import judge
from core.sign_in.places import Place
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import RULES, Rule
from tests.tenants import small_scope as scope
from tests.tenants.given_values import ORGANIZATION, USER, service_of
from tests.world.builder import new_id

ACME, GLOBEX, SHOP = new_id(), new_id(), new_id()


def judged(confinement: Confinement | None, organization_id: UUID, service_id: UUID | None = None) -> str | None:
    """Return why a sign-in with this confinement is refused there; None when it is not."""
    proof = IdentityProof(user_id=USER.id, provider=Provider.PASSWORD, amr=("pwd",), confinement=confinement)
    service = replace(service_of("all", serves_customers=False), id=service_id) if service_id is not None else None
    place = Place(organization=replace(ORGANIZATION, id=organization_id), service=service, is_member=True)
    destination = Destination(organization_slug="acme")
    circumstances = Circumstances.of(proof, destination, place, place.target, None, None)
    facts = SignInFacts(user=USER, proof=proof, destination=destination, now=scope.NOW, circumstances=circumstances)
    refusal = judge(RULES, facts, hidden=frozenset(set(Rule) - {Rule.CONFINEMENT})).refusal
    return refusal.reason if refusal is not None else None


def test_a_sign_in_for_one_organization_alone_leads_to_no_other_one() -> None:
    confinement = Confinement(organization_id=ACME)

    assert judged(None, GLOBEX) is None
    assert judged(confinement, ACME, SHOP) is None
    assert judged(confinement, GLOBEX) is SignInReason.CONFINED_ELSEWHERE
