"""Why a service provider or a service got a status instead of a user, as the helpers of its users read it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from tests.clock import SettableClock
from tests.service_provider import posted_form
from tests.world.fixtures import saml, saml_shop
from tests.world.saml import SamlService
from tests.world.team import Team
from tests.world.visitor import Visitor

__all__ = ["saml", "saml_shop"]


async def reasons(team: Team, user_id: UUID) -> list[tuple[str, str | None]]:
    """Return provider and reason of the sign-ins to the service that the owner of the team sees."""
    answer = await team.request("owner", "GET", f"/users/{user_id}/sign-ins")
    assert answer.status == 200, answer.text
    shown = answer.json["sign_ins"]
    return [(one["provider"], one["reason"]) for one in shown if one["service"] and one["service"]["slug"] == "shop"]


async def test_a_user_whom_the_service_does_not_admit(team: Team, visitor: Visitor, saml_shop: SamlService) -> None:
    user_id = team.user("stranger")
    await team.world.sign_in("stranger@example.com", org_slug="acme", service_slug="shop")
    await visitor.sign_in("stranger@example.com")

    page = await visitor.open(saml_shop.sso())

    assert posted_form(page.text).statuses == ["Responder", "RequestDenied"]
    assert await reasons(team, user_id) == [("saml", "not_admitted"), ("password", None)]


async def test_a_suspended_member(team: Team, visitor: Visitor, saml_shop: SamlService) -> None:
    await visitor.sign_in("member@example.com")
    team.world.connection.execute(
        "UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (team.ids["member"],)
    )

    await visitor.open(saml_shop.sso())

    assert await reasons(team, team.ids["member"]) == [("saml", "suspended")]


async def test_a_passive_request_that_a_user_would_have_to_answer(
    team: Team, visitor: Visitor, saml_shop: SamlService, clock: SettableClock
) -> None:
    await visitor.sign_in("member@example.com")
    clock.advance(timedelta(seconds=1))

    request = saml_shop.sp.authn_request(IsPassive="true", ForceAuthn="true")
    page = await visitor.open(saml_shop.sso(request))

    assert posted_form(page.text).statuses == ["Responder", "NoPassive"]
    assert await reasons(team, team.ids["member"]) == [("saml", "interaction_required")]


async def test_a_passive_request_without_a_session_is_noted_for_nobody(
    team: Team, visitor: Visitor, saml_shop: SamlService
) -> None:
    before = team.world.value("SELECT count(*) FROM login_events")

    await visitor.open(saml_shop.sso(saml_shop.sp.authn_request(IsPassive="true")))

    assert team.world.value("SELECT count(*) FROM login_events") == before


async def test_a_member_without_the_second_factor_that_the_organization_requires(
    team: Team, visitor: Visitor, saml_shop: SamlService
) -> None:
    user_id = team.ids["member"]
    await visitor.sign_in("member@example.com")
    team.world.connection.execute("UPDATE organizations SET mfa_required = true")

    await visitor.open(saml_shop.sso())

    team.world.connection.execute("UPDATE organizations SET mfa_required = false")
    assert await reasons(team, user_id) == [("saml", "second_factor_required")]
