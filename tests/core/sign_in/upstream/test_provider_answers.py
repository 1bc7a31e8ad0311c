"""Reading the answers of providers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.upstream import discovery, provider_answers
from core.sign_in.upstream.provider_answers import ID_TOKEN_CHARACTERS_MAX, UpstreamFailed
from core.sign_in.upstream.providers import ExternalProvider

AT = datetime(2026, 2, 3, tzinfo=UTC)
ISSUER = "https://idp.example.com"
DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": "https://tokens.example.com/",
    "jwks_uri": f"{ISSUER}/keys",
}


@pytest.mark.parametrize("expires_in", [3600, "3600"], ids=repr)
def test_a_lifetime_may_be_a_number_or_a_text(expires_in: Any) -> None:
    tokens = provider_answers.provider_tokens({"access_token": "x", "expires_in": expires_in}, "client", at=AT)

    assert tokens.expires_at == AT + timedelta(hours=1)


@pytest.mark.parametrize("expires_in", [None, True, -1, "soon", 1.5, [], "²"], ids=repr)
def test_a_lifetime_that_makes_no_sense_is_none(expires_in: Any) -> None:
    assert (
        provider_answers.provider_tokens({"access_token": "x", "expires_in": expires_in}, "client", at=AT).expires_at
        is None
    )


def test_a_lifetime_of_centuries_is_cut() -> None:
    tokens = provider_answers.provider_tokens({"access_token": "x", "expires_in": 10**30}, "client", at=AT)

    assert tokens.expires_at == AT + timedelta(days=3650)


@pytest.mark.parametrize(("scope", "expected"), [("a,b", ("a", "b")), ("a b", ("a", "b")), (7, ()), ("a\nb", ())])
def test_scopes_are_separated_by_blanks_or_commas(scope: Any, expected: tuple[str, ...]) -> None:
    assert provider_answers.provider_tokens({"access_token": "x", "scope": scope}, "client", at=AT).scopes == expected


@pytest.mark.parametrize(
    "answer",
    [{}, {"access_token": ""}, {"access_token": 7}, {"access_token": "x" * 16_001}],
    ids=lambda answer: repr(answer)[:30],
)
def test_an_answer_without_a_token_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFailed):
        provider_answers.provider_tokens(answer, "client", at=AT)


def test_codehost_prefers_the_primary_one_of_the_verified_addresses() -> None:
    emails = [
        {"email": "first@example.com", "verified": True, "primary": False},
        {"email": "main@example.com", "verified": True, "primary": True},
        {"email": "new@example.com", "verified": False, "primary": False},
    ]

    identity = provider_answers.codehost_identity({"id": 1, "email": "public@example.com"}, emails)

    assert (identity.email, identity.is_email_verified) == ("main@example.com", True)
    assert provider_answers.codehost_identity({"id": 1}, emails[:1]).email == "first@example.com"


def test_the_public_address_at_codehost_is_not_verified() -> None:
    identity = provider_answers.codehost_identity({"id": 1, "email": "public@example.com"}, [])

    assert (identity.email, identity.is_email_verified) == ("public@example.com", False)


def test_a_connection_maps_the_claims() -> None:
    mapped = provider_answers.connection_identity({"sub": "1", "oid": "7"}, {"id": "oid"})
    assert (mapped.subject, mapped.own_subject) == ("7", "1")
    assert provider_answers.connection_identity({"sub": "1"}, {"id": "sub"}).own_subject is None
    identity = provider_answers.connection_identity({"oid": "7", "upn": "a@example.com"}, {"id": "oid", "email": "upn"})
    assert identity.own_subject is None

    assert (identity.subject, identity.email) == ("7", "a@example.com")


def test_a_document_describes_its_issuer() -> None:
    found = discovery.read(ISSUER, DOCUMENT)

    assert (found.token_url, found.userinfo_url, found.takes_basic) == ("https://tokens.example.com/", None, True)


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": f"{ISSUER}/"},
        {"token_endpoint": "http://idp.example.com/token"},
        {"token_endpoint": "https://[broken"},
        {"token_endpoint": "https://user@idp.example.com/"},
        {"token_endpoint": "https://idp.example.com/#x"},
        {"token_endpoint": "https://ídp.example.com/"},
        {"token_endpoint": "https:///token"},
        {"jwks_uri": "x" * 2001},
        {"authorization_endpoint": None},
    ],
    ids=lambda change: str(change)[:50],
)
def test_a_document_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFailed):
        discovery.read(ISSUER, {**DOCUMENT, **change})


@pytest.mark.parametrize("document", [None, [], "text"], ids=repr)
def test_what_is_no_document_is_refused(document: Any) -> None:
    with pytest.raises(UpstreamFailed):
        discovery.read(ISSUER, document)


@pytest.mark.parametrize(
    ("names_itself", "iss", "is_refused"),
    [
        (False, "", False),
        (False, ISSUER, False),
        (False, "https://evil.example", True),
        (True, "", True),
        (True, ISSUER, False),
    ],
)
def test_an_answer_names_the_issuer_that_was_asked(*, names_itself: bool, iss: str, is_refused: bool) -> None:
    found = discovery.read(
        ISSUER,
        {
            **DOCUMENT,
            "authorization_response_iss_parameter_supported": names_itself,
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        },
    )

    assert not found.takes_basic
    if is_refused:
        with pytest.raises(UpstreamFailed):
            discovery.require_own_answer(found, iss)
    else:
        discovery.require_own_answer(found, iss)


@pytest.mark.parametrize(("says", "is_verified"), [(True, True), ("true", True), (False, False), (None, False)])
def test_websuite_says_itself_whether_an_address_is_verified(says: object, is_verified: bool) -> None:
    claims = {"sub": "1", "email": "ada@example.com", "email_verified": says}

    assert provider_answers.websuite_identity(claims).is_email_verified is is_verified


@pytest.mark.parametrize(("edov", "is_verified"), [(True, True), ("1", True), (None, False), (False, False)])
def test_officesuite_verifies_an_address_only_by_the_domain_of_the_tenant(edov: object, is_verified: bool) -> None:
    claims = {"tid": "tenant", "oid": "account", "email": "ada@example.com", "xms_edov": edov}

    proven = provider_answers.officesuite_identity(claims)

    assert (proven.subject, proven.is_email_verified) == ("tenant:account", is_verified)


def test_a_connection_maps_the_claims_of_its_provider() -> None:
    claims = {"sub": "1", "email": "ada@example.com", "oid": 7, "mail": "grace@example.com"}

    plain = provider_answers.connection_identity(claims, {})
    mapped = provider_answers.connection_identity(claims, {"id": "oid", "email": "mail"})

    assert (plain.subject, plain.email) == ("1", "ada@example.com")
    assert (mapped.subject, mapped.email) == ("7", "grace@example.com")


def test_an_identity_may_have_the_tokens_of_its_provider() -> None:
    tokens = provider_answers.provider_tokens({"access_token": "x"}, "client", at=AT)

    assert provider_answers.with_tokens(provider_answers.connection_identity({"sub": "1"}, {}), tokens).tokens is tokens


@pytest.mark.parametrize("subject", [7, 0, -1, True, 1.5, None, ["7"]])
def test_a_sub_that_is_not_a_text_is_refused(subject: object) -> None:
    claims = {"sub": subject, "tid": "tenant", "oid": "account", "email": "ada@example.com"}

    for identity in (
        lambda: provider_answers.websuite_identity(claims),
        lambda: provider_answers.officesuite_identity(claims),
        lambda: provider_answers.connection_identity(claims, {}),
        lambda: provider_answers.connection_identity(claims, {"id": "oid"}),
    ):
        with pytest.raises(UpstreamFailed):
            identity()


@pytest.mark.parametrize("subject", [7, None, "", True, 1.5, "a\nb", "x" * 256, []], ids=lambda one: repr(one)[:20])
def test_an_account_without_a_usable_id_is_refused(subject: object) -> None:
    with pytest.raises(UpstreamFailed):
        provider_answers.checked_subject(subject)


VALID = {"iss": ISSUER, "aud": "client", "exp": AT.timestamp() + 60, "iat": AT.timestamp(), "nonce": "nonce"}


def require(claims: dict[str, Any]) -> None:
    """Judge the claims of an ID token."""
    provider_answers.require_valid_claims(claims, client_id="client", nonce="nonce", at=AT, issuer=ISSUER)


@pytest.mark.parametrize("changes", [{}, {"aud": ["client", "other"], "azp": "client"}, {"exp": 10**310}], ids=str)
def test_an_id_token_for_us_and_this_sign_in_is_accepted(changes: dict[str, Any]) -> None:
    require({**VALID, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"aud": "other"},
        {"azp": "other"},
        {"aud": ["client", "other"]},
        {"exp": AT.timestamp() - 181},
        {"exp": "soon"},
        {"exp": float("nan")},
        {"iat": AT.timestamp() + 181},
        {"nbf": AT.timestamp() + 181},
        {"nbf": "now"},
        {"iat": "now"},
        {"iat": float("nan")},
        {"iat": 10**310},
        {"nonce": "another"},
    ],
    ids=str,
)
def test_an_id_token_for_others_or_another_time_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFailed):
        require({**VALID, **changes})


@pytest.mark.parametrize(
    ("trusts_email", "says_verified", "is_verified"),
    [(True, True, True), (True, "true", True), (True, False, False), (True, None, False), (False, True, False)],
)
def test_the_word_of_an_added_provider_on_an_address_counts_only_if_the_operator_says_so(
    *, trusts_email: bool, says_verified: object, is_verified: bool
) -> None:
    acme = ExternalProvider(
        provider=Provider("acme"),
        title="Acme",
        scopes=("openid",),
        issuer="https://id.acme.example",
        trusts_email=trusts_email,
    )

    proven = provider_answers.openid_identity(
        acme, {"sub": "7", "email": "ada@example.com", "email_verified": says_verified}
    )

    assert (proven.provider, proven.subject) == (Provider("acme"), "https://id.acme.example#7")
    assert (proven.email, proven.is_email_verified) == ("ada@example.com", is_verified)


def test_an_id_token_is_kept_for_signing_out_up_to_a_length() -> None:
    def kept(characters: int) -> bool:
        proven = provider_answers.connection_identity({"sub": "ada"}, {}, Secret("x" * characters))
        return proven.provider_session is not None and proven.provider_session.id_token is not None

    assert kept(ID_TOKEN_CHARACTERS_MAX)
    assert not kept(ID_TOKEN_CHARACTERS_MAX + 1)
