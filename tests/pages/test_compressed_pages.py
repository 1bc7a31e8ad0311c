"""Pages are compressed, except where the length of an answer could tell a secret in it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator

import pytest

from core.secrets import Secret
from core.sessions.signing_keys import KeyPair
from entrypoints.pages.frame.rendering import TEMPLATES_FOLDER, reveals_secret
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm, masked, require_token
from tests.account_site import running_site_with_account, sign_in
from tests.application import Answer
from tests.browser import Site, Watched
from tests.postgres import Databases
from tests.web.serving.test_authorization import ROUTES
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

GZIP = {"Accept-Encoding": "gzip, br"}
SIGN_IN = "/app/sign-in"
# Why the answers of page routes are not compressed, with their names.
NOT_COMPRESSED = {
    "carries the secret on that came with the request: a link, a message, a one-time id": (
        "GET /api/organizations/:org_slug/services/:service_slug/saml/login",
        "GET /app/claims",
        "GET /app/claims/own",
        "GET /app/invitations/accept",
        "GET /app/invitations/confirmation",
        "GET /app/register/sign-in",
        "GET /app/sign-in/address-code",
        "GET /auth/authorize",
        "GET /auth/authorize/continue",
        "GET /auth/authorize/resume",
        "GET /auth/codehost",
        "GET /auth/device",
        "GET /auth/lock-account",
        "GET /auth/logout",
        "GET /auth/magic-link",
        "GET /auth/officesuite",
        "GET /auth/reset-password",
        "GET /auth/undo-email-change",
        "GET /auth/upstream",
        "GET /auth/upstream/:connection_id/slo",
        "GET /auth/verify-email",
        "GET /auth/websuite",
        "GET /invitations/accept",
        "GET /saml/:org_slug/:service_slug/authenticate",
        "GET /saml/:org_slug/:service_slug/slo",
        "GET /saml/:org_slug/:service_slug/sso",
        "GET /saml/logout",
        "POST /app/account/organizations/accept",
        "POST /app/account/organizations/decline",
        "POST /app/account/passkeys/new",
        "POST /app/claims/own",
        "POST /app/invitations/accept",
        "POST /app/invitations/confirmation",
        "POST /app/invitations/confirmation/leave",
        "POST /app/invitations/decline",
        "POST /app/passkey",
        "POST /app/second-factor",
        "POST /app/sign-in/address-code",
        "POST /app/sign-in/code",
        "POST /app/sign-in/passkey",
        "POST /auth/authorize",
        "POST /auth/authorize/allow",
        "POST /auth/authorize/deny",
        "POST /auth/device",
        "POST /auth/device/approve",
        "POST /auth/device/deny",
        "POST /auth/lock-account",
        "POST /auth/logout",
        "POST /auth/magic-link",
        "POST /auth/reset-password",
        "POST /auth/undo-email-change",
        "POST /auth/upstream/:connection_id/acs",
        "POST /auth/upstream/:connection_id/slo",
        "POST /auth/verify-email",
        "POST /auth/verify-email/choose-password",
        "POST /auth/verify-email/confirm",
        "POST /auth/verify-email/not-me",
        "POST /saml/:org_slug/:service_slug/authenticate",
        "POST /saml/:org_slug/:service_slug/authenticate/cancel",
        "POST /saml/:org_slug/:service_slug/authenticate/customer",
        "POST /saml/:org_slug/:service_slug/slo",
        "POST /saml/:org_slug/:service_slug/sso",
    ),
    "makes a secret that is shown once, or shows it": (
        "GET /app/account/second-factor/backup-codes/shown/:shown_id",
        "GET /app/account/second-factor/setup/shown/:shown_id",
        "GET /app/organizations/:org_slug/keys/:key_id/shown/:shown_id",
        "GET /app/organizations/:org_slug/made-for-us/shown/:shown_id",
        "GET /app/organizations/:org_slug/provisioning/shown/:shown_id",
        "GET /app/organizations/:org_slug/services/:service_slug/api-keys/:api_key_id/shown/:shown_id",
        "GET /app/organizations/:org_slug/services/:service_slug/customers/:customer_id/scim-tokens/shown/:shown_id",
        "GET /app/organizations/:org_slug/services/:service_slug/customers/:customer_id/setup-links/shown/:shown_id",
        "GET /app/organizations/:org_slug/services/:service_slug/shown/:shown_id",
        "GET /app/organizations/:org_slug/setup-links/:link_id/shown/:shown_id",
        "GET /app/organizations/:org_slug/webhooks/:webhook_id/shown/:shown_id",
        "GET /app/second-factor/backup-codes/shown/:shown_id",
        "GET /app/second-factor/confirm/shown/:shown_id",
        "GET /app/setup/parts/scim/shown/:shown_id",
        "POST /app/account/second-factor/backup-codes",
        "POST /app/account/second-factor/enable",
        "POST /app/account/second-factor/passkeys/:passkey_id",
        "POST /app/account/second-factor/setup",
        "POST /app/organizations/:org_slug/keys",
        "POST /app/organizations/:org_slug/made-for-us/:thing_id/adopt",
        "POST /app/organizations/:org_slug/provisioning",
        "POST /app/organizations/:org_slug/services/:service_slug/api-keys/new",
        "POST /app/organizations/:org_slug/services/:service_slug/customers/:customer_id/scim-tokens",
        "POST /app/organizations/:org_slug/services/:service_slug/customers/:customer_id/setup-links",
        "POST /app/organizations/:org_slug/services/:service_slug/secret",
        "POST /app/organizations/:org_slug/services/new",
        "POST /app/organizations/:org_slug/setup-links",
        "POST /app/organizations/:org_slug/webhooks/:webhook_id/secret",
        "POST /app/organizations/:org_slug/webhooks/new",
        "POST /app/second-factor/confirm",
        "POST /app/second-factor/passkey",
        "POST /app/second-factor/set-up",
        "POST /app/setup/parts/scim",
    ),
    "belongs to a setup link": (
        "GET /app/setup/:secret",
        "GET /app/setup/parts/domain",
        "GET /app/setup/parts/domain/delete",
        "GET /app/setup/parts/groups",
        "GET /app/setup/parts/groups/:rule_id/remove",
        "GET /app/setup/parts/mail-domains",
        "GET /app/setup/parts/saml",
        "GET /app/setup/parts/saml/delete",
        "GET /app/setup/parts/scim",
        "GET /app/setup/parts/scim/:token_id/revoke",
        "GET /app/setup/parts/service-roles",
        "GET /app/setup/parts/siem",
        "GET /app/setup/parts/siem/delete",
        "GET /app/setup/parts/upstream",
        "GET /app/setup/parts/upstream/:connection_id",
        "GET /app/setup/parts/upstream/:connection_id/delete",
        "POST /app/setup/:secret",
        "POST /app/setup/parts/domain",
        "POST /app/setup/parts/domain/delete",
        "POST /app/setup/parts/domain/verify",
        "POST /app/setup/parts/groups",
        "POST /app/setup/parts/groups/:rule_id/remove",
        "POST /app/setup/parts/groups/check",
        "POST /app/setup/parts/mail-domains",
        "POST /app/setup/parts/mail-domains/:domain_id/delete",
        "POST /app/setup/parts/mail-domains/:domain_id/verify",
        "POST /app/setup/parts/saml",
        "POST /app/setup/parts/saml/certificate",
        "POST /app/setup/parts/saml/delete",
        "POST /app/setup/parts/scim/:token_id/revoke",
        "POST /app/setup/parts/service-roles",
        "POST /app/setup/parts/service-roles/:rule_id/remove",
        "POST /app/setup/parts/siem",
        "POST /app/setup/parts/siem/delete",
        "POST /app/setup/parts/siem/test",
        "POST /app/setup/parts/upstream",
        "POST /app/setup/parts/upstream/:connection_id",
        "POST /app/setup/parts/upstream/:connection_id/delete",
        "POST /app/setup/parts/upstream/:connection_id/domains",
        "POST /app/setup/parts/upstream/:connection_id/enabling",
        "POST /app/setup/parts/upstream/:connection_id/key",
        "POST /app/setup/parts/upstream/:connection_id/test",
        "POST /app/setup/parts/upstream/:connection_id/token-issuer",
        "POST /app/setup/parts/upstream/:connection_id/trial",
        "POST /app/setup/parts/upstream/domains/:route_id/delete",
        "POST /app/setup/parts/upstream/domains/:route_id/verify",
    ),
    "takes the answer of another system": (
        "GET /auth/codehost/callback",
        "GET /auth/officesuite/callback",
        "GET /auth/upstream/:connection_id/acs",
        "GET /auth/upstream/callback",
        "GET /auth/upstream/continue",
        "GET /auth/upstream/enter",
        "GET /auth/upstream/return",
        "GET /auth/websuite/callback",
    ),
    "shows mails with their links": (
        "GET /dev/mailbox",
        "GET /dev/mailbox/:message_id",
    ),
}
# The templates of pages with a secret of the state and not of the request: the token of an invitation, a challenge.
OF_STATE = {
    "organizations/organizations_own.html",
    "credentials/passkeys_new.html",
    "credentials/host_passkeys.html",
    "openid/authorization_endpoint.html",
}
# What hidden fields are named that are no secret to a page of the same person; each other name is `CARRIED_SECRETS`.
HIDDEN = re.compile(r'type="hidden" name="([a-z_A-Z]+)"')
NO_SECRETS = {
    "back",  # the word of the page that a form leads back to
    "address",
    "anyway",
    "by",
    "claim",
    "claim_id",
    "client_id",
    "email",
    "emails",
    "enabled",
    "form_token",
    "group",
    "jwks",
    "jwks_uri",
    "kind",
    "live",
    "new_owner_user_id",
    "of_role",
    "org_slug",
    "rules",
    "post_logout_redirect_uri",
    "preset",
    "provider",
    "redirect_uri",
    "return_id",
    "return_to",
    "role",
    "search",
    "seen",
    "seen_at",
    "seen_roles",
    "seen_certificate",
    "seen_device_trust_days",
    "seen_email",
    "seen_enabled_at",
    "seen_enforced",
    "seen_max_services",
    "seen_max_users",
    "seen_mfa_required",
    "seen_name",
    "seen_provider_id",
    "seen_redirect_uri",
    "seen_relation",
    "seen_role",
    "seen_sessions",
    "seen_state",
    "seen_status",
    "seen_tier",
    "seen_total",
    "seen_version",
    "shown_entity_id",
    "siem_provider",
    "since",
    "state",
    "stay",
    "subject",
    "subscription_id",
    "tier",
    "type",
    "ui_locales",
    "user_id",
    "version",
}


async def test_a_page_is_compressed_for_a_client_that_takes_it_so(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()
    for page in ("/app/account", "/app/account/email"):
        plain = await visitor.send("GET", page)
        compressed = await visitor.send("GET", page, headers=GZIP)
        refused = await visitor.send("GET", page, headers={"Accept-Encoding": "gzip;q=0"})
        head = await visitor.send("HEAD", page, headers=GZIP)

        assert [one.headers.get("Content-Encoding") for one in (plain, refused)] == [None, None]
        assert compressed.headers["Content-Encoding"] == head.headers["Content-Encoding"] == "gzip"
        assert without_tokens(gzip.decompress(compressed.content).decode()) == without_tokens(plain.text)
        assert int(compressed.headers["Content-Length"]) == len(compressed.content) < len(plain.content)
        assert int(plain.headers["Content-Length"]) == len(plain.content)
        for answer in (plain, compressed, refused):
            assert "Accept-Encoding" in varies_of(answer)


async def test_what_another_site_asks_for_is_not_compressed(visitor: Visitor) -> None:
    coding = {
        site: (await visitor.send("GET", SIGN_IN, headers={**GZIP, "Sec-Fetch-Site": site})).headers.get(
            "Content-Encoding"
        )
        for site in ("cross-site", "same-site", "same-origin", "none")
    }

    assert coding == {"cross-site": None, "same-site": None, "same-origin": "gzip", "none": "gzip"}


async def test_no_other_answer_is_compressed(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()
    for path in (
        "/auth/reset-password?token=unknown",
        "/app/setup/unknown",
        "/app/account/organizations",
        "/app/account/passkeys/new",
        "/dev/mailbox",
        "/health/live",
        "/app/unknown",
    ):
        answer = await visitor.send("GET", path, headers=GZIP)

        assert "Content-Encoding" not in answer.headers, path
        assert "Accept-Encoding" not in varies_of(answer), path


async def test_two_answers_carry_one_form_token_behind_two_masks(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()
    first, second = [await visitor.open("/app/account/email") for _ in range(2)]
    tokens = {form.fields["form_token"] for page in (first, second) for form in forms_of(page)}

    assert len(tokens) == 2
    for page in (first, second):
        changed = await visitor.submit(page, "/app/account/email", email="new@example.com", is_followed=False)
        assert changed.status == 303


def test_a_form_token_is_accepted_masked_and_as_earlier_versions_wrote_it() -> None:
    token = Secret("token-of-a-browser-session-with-43-characters")
    for sent in (masked(token), token.reveal()):
        require_token(ProtectedForm(form_token=sent), token)

    of_nothing = ("", "=", "!", "====", "AA", masked(Secret("")), "\udcff")
    for sent in (*of_nothing, masked(Secret("another")), masked(token)[:-4], token.reveal()[:-1]):
        for expected in (token, Secret("")):
            with pytest.raises(FormRefused):
                require_token(ProtectedForm(form_token=sent), expected)


def test_each_page_route_is_compressed_or_says_why_not() -> None:
    carriers = {route.name for route in ROUTES if route.is_page and route.carries_secret}

    assert carriers == {name for names in NOT_COMPRESSED.values() for name in names}


def test_each_hidden_field_of_a_template_is_no_secret_or_keeps_its_page_from_being_compressed() -> None:
    templates = [file.relative_to(TEMPLATES_FOLDER).as_posix() for file in sorted(TEMPLATES_FOLDER.rglob("*.html"))]

    assert OF_STATE.issubset(templates)
    for template in templates:
        source = (TEMPLATES_FOLDER / template).read_text()
        unknown = {name for name in HIDDEN.findall(source) if f'name="{name}" value=""' not in source} - NO_SECRETS
        assert not unknown or reveals_secret(template), (template, unknown)
    assert all(map(reveals_secret, OF_STATE))


@pytest.fixture
def site(databases: Databases, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with one account."""
    with databases.migrated() as database_url, running_site_with_account(database_url, key_pairs) as running:
        yield running


@pytest.mark.browser
@pytest.mark.long
def test_a_browser_shows_compressed_pages_and_sends_their_forms(site: Site, watch: Callable[..., Watched]) -> None:
    watched = watch()
    answer = watched.page.goto(f"{site.url}{SIGN_IN}")
    assert answer is not None

    sign_in(watched.page)
    watched.page.wait_for_url(f"{site.url}/app/account")

    assert answer.header_value("content-encoding") == "gzip"
    assert not watched.problems


def varies_of(answer: Answer) -> str:
    """Return on which headers of the request an answer depends."""
    return ", ".join(value for name, value in answer.headers.items() if name.lower() == "vary")
