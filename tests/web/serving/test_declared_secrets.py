"""Every page that shows or takes a secret of an organization declares it, and then asks for a recent sign-in.

`Route.asks_to_confirm` follows from the declaration: a user whose sign-in is older than ten minutes signs in again.
"""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from core.organizations.access import Operation
from core.secrets import Secret
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.browsers import RECENT, SIGN_IN_AGAIN, ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.web.serving.test_authorization import ROUTES
from tests.web.serving.test_authorization_of_browsers import call_in_browser, code_of_page
from tests.world.callers import Caller, insert_callers
from tests.world.world import World

PAGES = Path(__file__).parents[3] / "entrypoints" / "pages"
DECLARED = [route for route in ROUTES if route.asks_to_confirm]
FORMS = [route for route in ROUTES if route.is_page and route.form is not None]
# Fields that are named like a secret, or typed unseen, and are none of an organization.
NO_SECRETS = {
    # The browser's own, and the ids and links that a page carries on.
    "form_token",
    "token",
    "request_id",
    "proof",
    # What proves who is there, which no earlier proof can protect.
    "code",
    "password",
    "current_password",
    "new_password",
    "repeated",
    # What a browser made with a passkey, of which it keeps the secret.
    "credential",
    # Whether, and for how long, the key of another thing is valid; public keys, and where they are.
    "token_issuer",
    "token_signing",
    "seen_certificate",
    "sp_certificate",
    "jwks",
    "jwks_uri",
    "id_token_hint",
}
NAMED_LIKE_A_SECRET = re.compile(r"secret|token|password|credential|private|api_key|passphrase|jwks|certificate")
# Forms of operations that make a credential, which neither show one nor take one.
WITHOUT_SECRET = {
    "POST /app/organizations/:org_slug/keys/:key_id/workloads/new": "a rule, and asks by itself",
    "POST /app/organizations/:org_slug/services/:service_slug/workloads/new": "a rule, and asks by itself",
    **{
        f"POST /app/organizations/:org_slug/services/:service_slug/customers/:customer_id/{below}": why
        for below, why in (
            ("connections/:provider_id/remove", "takes one away"),
            ("connections/:provider_id/switch", "a switch"),
            ("group-rules", "a rule"),
            ("group-rules/:rule_id/remove", "takes one away"),
            ("mail-domains", "a name that proves nothing yet"),
            ("mail-domains/:domain_id/remove", "takes one away"),
            ("mail-domains/:domain_id/verify", "asks the name servers"),
            ("scim-tokens/:token_id/revoke", "takes one away"),
            ("setup-links/:link_id/revoke", "takes one away"),
        )
    },
    "POST /app/organizations/:org_slug/services/:service_slug/tryout": "a sign-in whose tokens end before the answer",
    "POST /app/organizations/:org_slug/services/:service_slug/single-sign-on/certificate": "its key never leaves us",
    "POST /app/organizations/:org_slug/sign-in/connections/:connection_id/change": "takes none, and asks by itself",
    "POST /app/organizations/:org_slug/sign-in/connections/:connection_id/enabling": "a switch",
    "POST /app/organizations/:org_slug/sign-in/connections/:connection_id/token-issuer": "an address",
    "POST /app/organizations/:org_slug/sign-in/connections/:connection_id/rotate-key-pair": "its key never leaves us",
    "POST /app/organizations/:org_slug/siem/pause": "a switch",
    "POST /app/organizations/:org_slug/siem/restart": "a time",
    "POST /app/organizations/:org_slug/siem/resume": "a switch",
    "POST /app/organizations/:org_slug/webhooks/:webhook_id/activate": "a switch",
    "POST /app/organizations/:org_slug/webhooks/:webhook_id/change": "an address",
    "POST /app/organizations/:org_slug/webhooks/:webhook_id/pause": "a switch",
}
# Words of paths that exist, without which there is nothing to ask for.
NAMED = {"provider": "codehost", "service_slug": "shop"}
# The code of the pages that makes a text of a `Secret`, and what that is for. A page gets one by `shown_once` alone.
REVEALING = {
    "sessions/shown_secrets.py shown_once": "the secrets of the pages that are declared",
    "frame/forms.py typed_secret": "a secret that was typed, without its blanks",
    "frame/refusals.py _mark_of": "whether one was typed",
    "organizations/settings/smtp.py wanted": "whether one was typed",
    "sign_in/upstream/connections/connections.py given": "a secret that was typed, for its use case",
    "sign_in/upstream/connections/oauth_credentials.py save_credentials": "a secret that was typed, for its use case",
    "frame/impersonation_banner.py present_acting": "the token of a form",
    "frame/impersonation_banner.py past_acting": "the token of a form",
    "organizations/setup.py press_begin": "a cookie",
    "organizations/setup.py part_page": "the token of a form",
    "accounts/email_verification.py choose_password": "a link that leads on",
    "accounts/email_change_undo.py undo": "the token of a form",
    "openid/authorization_endpoint.py _respond": "a cookie",
    "openid/authorization_endpoint.py _resumed": "an id of a request",
    "openid/logout.py log_out_by_form": "an id of a request",
    "openid/logout.py signed_out": "an id of a request, and a cookie",
    "saml/messages.py": "a cookie",
    "saml/logouts.py _go_on_upstream": "an id of a message",
    "saml/logouts.py _take": "an id of a message",
    "saml/provider_logouts.py to_openid_provider": "what goes back to the provider that has signed it",
    "saml/answering.py sign_on_by_redirect": "an id of a message",
    "saml/answering.py sign_on_by_post": "an id of a message",
    "sign_in/identities.py": "an id of a sign-in under way",
    "sign_in/magic_links.py": "a code that is typed on another device, shown by the button of a mailed link",
    "sign_in/upstream/saml.py": "an id of a sign-in under way",
    "sign_in/upstream/provider_answers.py _send_request": "an id of a sign-in under way",
    "sign_in/upstream/trials/trial_judgements.py": "an id of a sign-in under way",
    "sign_in/upstream/by_connection.py _leave_domain": "an id of a sign-in under way",
    "sign_in/upstream/providers.py": "an id of a sign-in under way",
}


def secret_fields(form: type[msgspec.Struct]) -> set[str]:
    """Return the names of the fields of a form that take a secret."""
    return {field.name for field in msgspec.structs.fields(form) if field.type is Secret}


def revealing() -> set[str]:
    """Return the functions of the pages that make a text of a `Secret`, each with its file."""
    found: set[str] = set()
    for path in PAGES.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                isinstance(node, ast.Attribute) and node.attr == "reveal" for node in ast.walk(function)
            ):
                found.add(f"{path.relative_to(PAGES)} {function.name}")
    return found


def test_only_the_page_that_shows_a_secret_once_makes_a_text_of_it() -> None:
    allowed = set(REVEALING)

    assert {one for one in revealing() if one not in allowed and one.partition(" ")[0] not in allowed} == set()


def test_no_template_makes_a_text_of_a_secret_but_for_what_a_form_carries_on() -> None:
    lines = [line for path in PAGES.rglob("*.html") for line in path.read_text(encoding="utf-8").splitlines()]

    assert [line for line in lines if shows(line, "reveal") and '<input type="hidden"' not in line] == []


def test_every_field_for_a_secret_has_its_type() -> None:
    typed_unseen = {
        name
        for path in PAGES.rglob("*.html")
        for name in re.findall(r'ui\.field\("(\w+)"[^}]*type="password"', path.read_text(encoding="utf-8"))
    }
    named = {
        (route.name, field.name)
        for route in FORMS
        for field in msgspec.structs.fields(route.form)
        if field.name in typed_unseen or NAMED_LIKE_A_SECRET.search(field.name)
    }
    in_organizations = {"password"}
    forgotten = [
        (name, field)
        for name, field in sorted(named)
        if field not in secret_fields(next(route.form for route in FORMS if route.name == name))
        and (field not in NO_SECRETS or (field in in_organizations and "/organizations/" in name))
    ]

    assert {"password", "client_secret", "siem_token"} <= typed_unseen
    assert forgotten == []


def test_every_operation_that_makes_a_credential_asks_to_confirm_on_its_pages() -> None:
    makers = {
        route.name
        for route in ROUTES
        if route.method == "POST"
        and route.who.kind is CredentialKind.BROWSER_SESSION
        and route.who.operation is not None
        and route.who.operation.makes_credential
    }
    declared = {route.name for route in DECLARED}

    assert makers - declared == set(WITHOUT_SECRET)
    assert {one for one in Operation if one.makes_credential} == {
        route.who.operation for route in ROUTES if route.name in makers
    }


def test_the_form_and_the_page_of_a_secret_are_both_declared() -> None:
    shown = [route for route in ROUTES if route.shows_secret]
    made = [route for route in ROUTES if route.makes_secret]

    assert all(route.path.endswith("/shown/:shown_id") for route in shown)
    assert all(route.shows_secret for route in ROUTES if ":shown_id" in route.path)
    # Two forms lead to a service's page and two to a webhook's, and several to the page of an account's backup codes.
    assert len(shown) == 14
    assert len(made) == 19


def test_neither_is_declared_where_it_cannot_work() -> None:
    routes = Routes("things", "The routes of this test.")

    async def handler(call: Call) -> None: ...

    with pytest.raises(TypeError, match="makes a secret without a form, or shows one as its answer"):
        routes.get("/app/things", makes_secret=True)(in_browser(handler))
    with pytest.raises(TypeError, match="makes a secret without a form, or shows one as its answer"):
        routes.post("/app/others", shows_secret=True)(handler)


@pytest.mark.parametrize("age", [timedelta(minutes=12), RECENT + timedelta(seconds=1)])
async def test_what_is_declared_asks_to_sign_in_again(
    world: World, clock: SettableClock, subtests: pytest.Subtests, age: timedelta
) -> None:
    callers = insert_callers(world)
    world.service(callers.acme_id, "shop")
    clock.advance(age)

    for route in DECLARED:
        with subtests.test(route=route.name):
            answer = await call_in_browser(callers, route, Caller.OWNER, **NAMED)

            assert (answer.status, answer.headers.get("Location", "").partition("?")[0]) == (303, SIGN_IN_AGAIN)
    # Forms that wait for the sign-in are kept in the same way.
    assert world.value("SELECT count(*) FROM shown_secrets WHERE page <> '/app/sign-in-again/form'") == 0


async def test_only_who_may_do_it_is_asked(world: World, clock: SettableClock, subtests: pytest.Subtests) -> None:
    callers = insert_callers(world)
    world.service(callers.acme_id, "shop")
    clock.advance(timedelta(minutes=12))

    for route in DECLARED:
        if route.who.operation is None or route.who.operation is Operation.SERVICE_READ:
            continue
        with subtests.test(route=route.name):
            answer = await call_in_browser(callers, route, Caller.MEMBER, **NAMED)
            acting = await call_in_browser(callers, route, Caller.IMPERSONATED, **NAMED)

            assert [code_of_page(one) for one in (answer, acting)] == ["FORBIDDEN"] * 2


async def test_what_is_declared_does_not_ask_after_a_recent_sign_in(
    world: World, clock: SettableClock, subtests: pytest.Subtests
) -> None:
    callers = insert_callers(world)
    world.service(callers.acme_id, "shop")
    clock.advance(RECENT)

    for route in DECLARED:
        with subtests.test(route=route.name):
            answer = await call_in_browser(callers, route, Caller.OWNER, **NAMED)

            assert SIGN_IN_AGAIN not in answer.headers.get("Location", "")


def test_a_form_that_takes_no_secret_asks_nothing() -> None:
    plain = [route for route in ROUTES if route.form is ProtectedForm and not route.makes_secret]

    assert plain
    assert not any(route.asks_to_confirm for route in plain)
