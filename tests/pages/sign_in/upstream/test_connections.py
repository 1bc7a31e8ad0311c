"""Signing in by an organization's own OpenID provider: what it asserts, and what its sessions are confined to."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from tests.openid_provider import CLIENT_ID, KEY, OTHER_KEY, public_key
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml import SamlWorld
from tests.world.upstream import parameters_of
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

ADA = "ada@acme.example"


async def test_a_user_of_a_verified_domain_gets_a_session_that_is_confined_to_the_organization(acme: Acme) -> None:
    page = await acme.sign_in()

    assert ADA in page.text
    rows = acme.world.rows("SELECT confined_to, connection_id::text, amr FROM sessions WHERE provider = 'upstream'")
    assert rows == [(acme.organization_id, acme.connection_id, ["fed"])]


@pytest.mark.parametrize(
    "email", ["ada@evil.example", "ada@sub.acme.example", None, "nonsense", "ada@acme.example.evil"]
)
async def test_a_connection_asserts_addresses_of_verified_domains_only(acme: Acme, email: str | None) -> None:
    acme.provider.claims = {"email": email, "email_verified": True}
    acme.provider.user = {"sub": "employee-1"}

    page = await acme.sign_in()

    assert page.status == 403
    assert not acme.visitor.has_session


async def test_a_claim_to_a_domain_that_is_not_verified_asserts_nothing(acme: Acme) -> None:
    acme.world.connection.execute("UPDATE domain_routes SET status = 'pending', verified_at = NULL")

    page = await acme.sign_in()

    assert page.status == 403


async def test_an_account_with_a_proved_address_is_linked_by_signing_in_to_it_even_when_enforced(acme: Acme) -> None:
    acme.world.user(ADA)
    await acme.enforce()

    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    live = acme.world.rows(
        "SELECT provider, confined_to FROM sessions WHERE revoked_at IS NULL AND user_id = %s", acme.world.user_id(ADA)
    )
    assert live == [("upstream", acme.organization_id)]


@pytest.mark.parametrize(
    "lie",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": [CLIENT_ID, "another-client"]},
        {"azp": "another-client"},
        {"exp": 1},
        {"exp": None},
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
    ],
    ids=str,
)
async def test_a_provider_that_lies_is_refused(acme: Acme, lie: dict[str, Any]) -> None:
    acme.provider.claims = lie

    page = await acme.sign_in()

    assert page.status == 502
    assert not acme.visitor.has_session


def forgeries(claims: dict[str, Any]) -> dict[str, str]:
    """Return ID tokens that no key of the provider has signed."""
    public = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    hmac = jwt.PyJWS().encode  # The library refuses a public key as a secret, an attacker's does not.
    jwk = public_key(OTHER_KEY, "1")
    return {
        "none": jwt.encode(claims, "", "none"),
        "another key": jwt.encode(claims, OTHER_KEY, "ES256", headers={"kid": "1"}),
        "its own key": jwt.encode(claims, OTHER_KEY, "ES256", headers={"jwk": jwk}),
        "hs256": hmac(__import__("json").dumps(claims).encode(), public.hex(), "HS256", headers={"kid": "1"}),
        "critical": jwt.encode(claims, KEY, "RS256", headers={"kid": "1", "crit": ["x"], "x": 1}),
        "nonsense": "a.b.c",
    }


@pytest.mark.parametrize("name", ["none", "another key", "its own key", "hs256", "critical", "nonsense"])
async def test_an_id_token_that_the_provider_has_not_signed_is_refused(acme: Acme, name: str) -> None:
    address = await acme.depart()
    claims = {
        "iss": acme.provider.url,
        "aud": CLIENT_ID,
        "sub": "employee-1",
        "email": ADA,
        "exp": 4_000_000_000,
        "nonce": parameters_of(address)["nonce"],
    }
    acme.provider.forged = forgeries(claims)[name]

    page = await acme.visitor.open(acme.provider.sign_in(address))

    assert page.status == 502
    assert not acme.visitor.has_session


async def test_the_answer_of_another_issuer_is_refused(acme: Acme) -> None:
    page = await acme.sign_in(iss="https://evil.example")

    assert page.status == 502
    assert not acme.visitor.has_session


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": None},
        {"token_endpoint": "file:///etc/passwd"},
        {"jwks_uri": "http://evil.example/keys"},
        {"authorization_endpoint": 7},
    ],
    ids=str,
)
async def test_a_provider_that_describes_itself_wrongly_is_refused(acme: Acme, document: dict[str, Any]) -> None:
    acme.provider.document = document

    page = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    tested = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")

    assert page.status == 502
    assert tested.json["success"] is False


async def test_a_connection_that_works_passes_its_test(acme: Acme) -> None:
    tested = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")

    assert tested.json["success"] is True


async def test_another_browser_cannot_finish_a_sign_in_by_a_connection(acme: Acme) -> None:
    back = acme.provider.sign_in(await acme.depart())

    answer = await Visitor(acme.visitor.client).send("GET", back)

    assert answer.status == 400


async def test_a_connection_makes_members_only_where_it_says_so(acme: Acme) -> None:
    await acme.sign_in()
    assert acme.world.role_of(acme.organization_id, ADA) is None
    await acme.change(joins_as="member")
    acme.visitor.cookies.clear()

    await acme.sign_in()

    assert acme.world.role_of(acme.organization_id, ADA) == "member"
    assert len(acme.world.audit_entries("user.joined")) == 1


@pytest.mark.parametrize("trusts", [True, False])
async def test_a_connection_takes_the_place_of_a_second_factor_only_if_it_is_trusted(
    acme: Acme, *, trusts: bool
) -> None:
    await acme.change(trust_mfa=trusts)
    await acme.sign_in()
    acme.world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = %s", (ADA,))
    acme.visitor.cookies.clear()

    await acme.sign_in()

    assert acme.visitor.has_session is trusts


async def test_deleting_a_connection_ends_its_sessions_and_unlinks_its_accounts(acme: Acme) -> None:
    await acme.sign_in()

    assert (await acme.owner.delete(f"{CONNECTIONS}/{acme.connection_id}")).status == 204

    assert acme.world.value("SELECT count(*) FROM sessions WHERE provider = 'upstream' AND revoked_at IS NULL") == 0
    assert acme.world.value("SELECT count(*) FROM identities") == 0


async def test_a_connection_that_is_switched_off_signs_nobody_in(acme: Acme) -> None:
    back = acme.provider.sign_in(await acme.depart())
    await acme.change(enabled=False)

    assert (await acme.visitor.send("GET", back)).status == 404
    begun = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    assert begun.status == 404
    assert (await acme.visitor.send("GET", "/auth/upstream?connection_id=nonsense")).status == 404


async def test_a_connection_that_is_switched_off_during_a_sign_in_ends_it(acme: Acme) -> None:
    address = await acme.depart()
    await acme.change(enabled=False)

    page = await acme.visitor.open(acme.provider.sign_in(address))

    assert page.status >= 400
    assert not acme.visitor.has_session


async def test_with_another_issuer_the_accounts_of_the_one_before_are_unlinked(acme: Acme) -> None:
    await acme.sign_in()

    await acme.change(issuer=acme.provider.url + "/other", client_secret="the-secret-there")

    assert acme.world.value("SELECT count(*) FROM identities") == 0


async def test_an_enforced_domain_refuses_right_passwords_and_wrong_ones_alike_as_before(acme: Acme) -> None:
    acme.world.user(ADA)
    await acme.enforce()

    assert_refused(await acme.world.log_in(ADA), 403, "SSO_REQUIRED")
    assert_refused(await acme.world.log_in(ADA, "another password"), 401, "UNAUTHORIZED")
    assert (await acme.world.log_in("owner@acme.example")).status == 200


async def test_a_session_of_the_connection_is_renewed_by_the_password(acme: Acme) -> None:
    await acme.sign_in()
    acme.world.connection.execute(
        "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'owner@acme.example')"
        " WHERE email = %s",
        (ADA,),
    )
    await acme.enforce()

    again = await acme.visitor.open("/app/sign-in-again?return_to=/app")
    page = await acme.visitor.submit(again, password=PASSWORD)

    assert ADA in page.text


async def test_an_enforced_domain_refuses_magic_links_and_resets_too(acme: Acme) -> None:
    acme.world.user(ADA)
    await acme.enforce()
    client = acme.world.client
    await client.post("/api/auth/magic-link/request", body={"email": ADA})
    await client.post("/api/auth/forgot-password", body={"email": ADA})
    magic, reset = [message.values["token"] for message in await acme.world.mails()]

    assert_refused(await client.post("/api/auth/magic-link/verify", body={"token": magic}), 403, "SSO_REQUIRED")
    body = {"token": reset, "new_password": "another good password"}
    assert_refused(await client.post("/api/auth/reset-password", body=body), 403, "SSO_REQUIRED")


async def test_a_domain_that_is_not_enforced_leaves_every_way_open(acme: Acme) -> None:
    acme.world.user(ADA)

    assert (await acme.world.log_in(ADA)).status == 200


async def test_the_lookup_answers_from_the_routes(acme: Acme) -> None:
    await acme.enforce()

    answer = await acme.world.client.post("/api/auth/lookup-email", body={"email": ADA})

    assert answer.json == {
        "domain": "acme.example",
        "auth_method": "upstream",
        "connection_id": acme.connection_id,
        "provider_name": "Acme",
        "organization": "acme",
        "sso_required": True,
        "login_url": f"http://localhost:8000/auth/upstream?connection_id={acme.connection_id}",
    }


async def test_the_sign_in_page_offers_the_connection_of_the_domain(acme: Acme) -> None:
    page = await acme.visitor.open("/app/sign-in")

    methods = await acme.visitor.submit(page, "/app/sign-in", email=ADA)

    assert f"/auth/upstream?connection_id={acme.connection_id}" in methods.text


async def test_a_confined_session_opens_no_other_organization(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    await acme.sign_in_confirmed()
    globex = acme.world.organization("globex")
    acme.world.member(globex, acme.world.user_id(ADA), "owner")

    page = await acme.visitor.open("/app/account/identities")
    answer = await acme.visitor.submit(page, "/app/account/identities/link", provider="codehost")

    # Recent, signed in, and still only for the organization: what it would link belongs to Acme.
    assert answer.status == 200
    assert acme.world.value("SELECT organization_id FROM upstream_sign_ins WHERE browser_hash IS NULL") == (
        acme.organization_id
    )


@pytest.mark.parametrize("organization", ["acme", "globex"])
async def test_a_confined_session_signs_in_by_saml_to_services_of_its_organization_alone(
    acme: Acme, saml: SamlWorld, organization: str
) -> None:
    await acme.change(joins_as="member")
    await acme.enforce()
    await acme.sign_in()
    globex = acme.world.organization("globex")
    acme.world.member(globex, acme.world.user_id(ADA))
    service = await saml.service(acme.organization_id if organization == "acme" else globex, organization)

    page = await acme.visitor.open(service.sso())

    assert ("SAMLResponse" in page.text) is (organization == "acme")
    sessions = acme.world.rows("SELECT confined_to, connection_id::text FROM sessions WHERE provider = 'saml'")
    assert sessions == ([(acme.organization_id, acme.connection_id)] if organization == "acme" else [])


async def test_who_comes_in_by_a_connection_joins_once_and_not_with_a_role_that_was_deleted(acme: Acme) -> None:
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")
    await acme.change(joins_as="auditor")
    acme.world.connection.execute("DELETE FROM organization_roles WHERE slug = 'auditor'")
    await acme.sign_in()
    assert acme.world.role_of(acme.organization_id, ADA) is None

    await acme.change(joins_as="member")
    for _ in range(2):
        acme.visitor.cookies.clear()
        await acme.sign_in()

    assert acme.world.role_of(acme.organization_id, ADA) == "member"
    assert len(acme.world.audit_entries("user.joined")) == 1


async def test_nobody_joins_an_organization_that_is_full(acme: Acme) -> None:
    await acme.change(joins_as="member")
    acme.world.connection.execute("UPDATE organizations SET max_users = 1")

    page = await acme.sign_in()

    assert page.status == 400
    assert acme.world.role_of(acme.organization_id, ADA) is None


async def test_a_deactivated_user_does_not_join_again(acme: Acme) -> None:
    await acme.sign_in()
    await acme.change(joins_as="member")
    acme.world.connection.execute("UPDATE users SET deactivated_at = now() WHERE email = %s", (ADA,))
    acme.visitor.cookies.clear()

    await acme.sign_in()

    assert not acme.visitor.has_session
    assert acme.world.role_of(acme.organization_id, ADA) is None
