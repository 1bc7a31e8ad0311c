"""A session that rests on a connection's word alone changes nothing of the account.

Every route that changes something of its caller is called. A new one is refused, or is in the table of those that are
open, with the reason.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.sessions.caller_limits import AddressNotConfirmed, ConfinedElsewhere
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.http.platform.test_impersonation_forbidden import REFUSED
from tests.web.serving.test_authorization import ROUTES, UNKNOWN_ID
from tests.web.serving.test_authorization_of_browsers import call_in_browser
from tests.world.callers import Caller, Callers, insert_callers
from tests.world.world import World

OPEN = {
    "POST /api/auth/logout": "It ends the session itself.",
    "DELETE /api/user/sessions": "It ends sessions within the organization of the connection.",
    "DELETE /api/user/sessions/:id": "It ends sessions within the organization of the connection.",
    "PATCH /api/user/devices/:id": "The name of a device gives no access.",
    "POST /api/user/change-password": "It asks for the current password.",
    "POST /auth/userinfo": "It reads.",
}
OPEN_PAGES = {
    "POST /app/account/applications/:service_id/disconnect": "It ends access, in the organization of the connection.",
    "POST /app/account/data/download": "It reads what belongs to the organization of the connection.",
    "POST /app/account/devices/:device_id/rename": "The name of a device gives no access.",
    "POST /app/account/organizations/accept": "Without the mailed proof it joins unconfirmed.",
    "POST /app/account/organizations/decline": "It takes away, in the organization of the connection.",
    "POST /app/account/organizations/leave": "It takes away, in the organization of the connection.",
    "POST /app/account/sessions/:session_id/end": "It ends sessions within the organization of the connection.",
    "POST /app/account/sessions/at/:service_id/end": "It ends sessions within the organization of the connection.",
    "POST /app/account/sessions/end-others": "It ends sessions within the organization of the connection.",
    "POST /app/account/subscriptions/:service_id/portal": "It leads to what was bought there.",
    "POST /app/choose-organization": "It goes on to the organization of the connection.",
    "POST /app/deleted-organizations/:slug": "It finds none for a session that is confined to an organization.",
    "POST /app/impersonation/stop": "It is for platform owners who act as another person.",
    "POST /app/sign-in-again": "It asks for a factor of the account.",
    "POST /app/second-factor/set-up": "It leads to the mailed code; see the test of that page.",
}
ALLOWED_TEXTS = (AddressNotConfirmed.default_message, ConfinedElsewhere.default_message)


def of_callers_account(kind: CredentialKind) -> list[Route]:
    """Return the routes that change something of their caller, rather than of an organization or the platform."""
    return [
        route
        for route in ROUTES
        if route.who.kind is kind
        and route.who.operation is None
        and not route.who.governs_platform
        and route.method != "GET"
    ]


@pytest.fixture
def callers(world: World) -> Callers:
    """The member has a session by the word of a connection of acme alone."""
    made = insert_callers(world)
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s, confined_to_role = 'member', provider = 'upstream', amr = '{fed}'"
        " WHERE id = %s",
        (made.acme_id, made.sessions[Caller.MEMBER]),
    )
    return made


def of_account(callers: Callers) -> list[Any]:
    """Return the rows that say how the member signs in."""
    user_id = callers.people[Caller.MEMBER]
    return [
        callers.world.rows(f"SELECT t::text FROM {table} AS t WHERE {column} = %s ORDER BY 1", user_id)
        for table, column in (
            ("users", "id"),
            ("totp_secrets", "user_id"),
            ("backup_codes", "user_id"),
            ("passkeys", "user_id"),
            ("passkey_challenges", "user_id"),
            ("identities", "user_id"),
            ("one_time_tokens", "user_id"),
        )
    ]


def test_the_tables_name_routes_that_exist() -> None:
    assert set(OPEN) <= {route.name for route in of_callers_account(CredentialKind.ACCESS_TOKEN)}
    assert set(OPEN_PAGES) <= {route.name for route in of_callers_account(CredentialKind.BROWSER_SESSION)}


async def test_every_operation_of_the_account_is_refused_or_has_a_reason_to_be_open(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    callers.world.remove_password("member@example.com")
    before = of_account(callers)
    bodies = {**REFUSED, "POST /api/organizations": {"slug": "mine", "name": "Mine"}}

    for route in of_callers_account(CredentialKind.ACCESS_TOKEN):
        if route.name not in OPEN:
            with subtests.test(route=route.name):
                path = (
                    route.path.replace(":id", str(UNKNOWN_ID))
                    .replace(":user_id", str(callers.people[Caller.MEMBER]))
                    .replace(":provider", "codehost")
                )
                answer = await callers.world.client.request(
                    route.method,
                    path,
                    headers=callers.credentials(Caller.MEMBER),
                    body=bodies[route.name],
                )

                assert answer.status == 403, answer.text
                assert answer.json["error"] in ALLOWED_TEXTS
                assert of_account(callers) == before


async def test_every_page_of_the_account_is_refused_or_has_a_reason_to_be_open(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    callers.world.remove_password("member@example.com")
    before = of_account(callers)

    for route in of_callers_account(CredentialKind.BROWSER_SESSION):
        if route.name not in OPEN_PAGES:
            with subtests.test(route=route.name):
                answer = await call_in_browser(callers, route, Caller.MEMBER)

                assert answer.status == 403, answer.text
                assert answer.json["error"] in ALLOWED_TEXTS
                assert of_account(callers) == before
