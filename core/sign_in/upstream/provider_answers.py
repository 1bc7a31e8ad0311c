"""The answers of providers, from their JSON to a proven identity.

Each provider describes an account in its own way. An address counts as verified only where the provider says so in a
way that its tenants cannot set: otherwise an attacker could give themselves any address there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeGuard, cast

from core.accounts.sign_in_methods import Provider
from core.errors import ErrorCode, Refusal
from core.secrets import Secret
from core.sign_in.identities import ProvenIdentity, ProviderSession, ProviderTokens
from core.sign_in.upstream import asserted
from core.sign_in.upstream.providers import ExternalProvider

SUBJECT_CHARACTERS_MAX: Final = 255
ADDRESS_CHARACTERS_MAX: Final = 254
TOKEN_CHARACTERS_MAX: Final = 16_000
SCOPES_MAX: Final = 100
SESSION_ID_CHARACTERS_MAX: Final = 256
TOKEN_ID_CHARACTERS_MAX: Final = 200
# A longer ID token does not fit into a URL, in which it goes back to the provider.
ID_TOKEN_CHARACTERS_MAX: Final = 6_000
# How far the clock of a provider may be off, in everything that it sends: ID tokens, assertions, and requests of its
# own.
CLOCK_SKEW: Final = timedelta(seconds=180)
# Some providers answer with the texts of booleans and numbers.
_TRUE: Final = (True, "true", "1", 1)
_LIFETIME_SECONDS_MAX: Final = 10 * 365 * 86_400


class UpstreamFailed(Refusal):
    """The provider did not answer, or its answer makes no sense; the log has the reason."""

    code = ErrorCode.PROVIDER_ERROR
    default_message = (
        "The provider that you chose did not answer as it should. Sign in in another way; if it happens again, tell the"
        " people who run this site the id below."
    )

    def __init__(self, problem: str = "") -> None:
        super().__init__()
        # Why, for the person who has configured the provider; empty when only the log says more.
        self.problem = problem
        # The member of `provider_problems.py` where the reason is a sentence; else the reason itself leads to it.
        self.word = ""
        # The claims of an ID token that is refused although its provider has signed it.
        self.claims: Mapping[str, Any] | None = None


def codehost_identity(user: Mapping[str, Any], emails: Sequence[Any]) -> ProvenIdentity:
    """Return the identity of an account of codehost, with the primary one of its verified addresses."""
    verified = [
        one
        for one in (cast("Mapping[str, Any]", one) for one in emails if isinstance(one, Mapping))
        if one.get("verified") is True and checked_address(one.get("email")) is not None
    ]
    # The interface of codehost has numbers, as it documents.
    subject = _text_or_number(user.get("id"))
    primary = next((one for one in verified if one.get("primary") is True), verified[0] if verified else None)
    if primary is None:
        return ProvenIdentity(
            provider=Provider.CODEHOST,
            subject=subject,
            email=checked_address(user.get("email")),
        )
    return ProvenIdentity(
        provider=Provider.CODEHOST,
        subject=subject,
        email=checked_address(primary["email"]),
        is_email_verified=True,
    )


def websuite_identity(claims: Mapping[str, Any]) -> ProvenIdentity:
    """Return the identity of an account of websuite."""
    return _of_claims(Provider.WEBSUITE, claims, claims.get("email_verified"))


def officesuite_identity(claims: Mapping[str, Any]) -> ProvenIdentity:
    """Return the identity of an account of officesuite: its tenant and its id there.

    A tenant sets the addresses of its accounts freely; only `xms_edov` says that the tenant has proved the domain.
    """
    _require_text(claims)
    tenant, account = checked_subject(claims.get("tid")), checked_subject(claims.get("oid"))
    email = checked_address(claims.get("email"))
    return ProvenIdentity(
        provider=Provider.OFFICESUITE,
        subject=checked_subject(f"{tenant}:{account}"),
        email=email,
        is_email_verified=email is not None and claims.get("xms_edov") in _TRUE,
    )


def openid_identity(external: ExternalProvider, claims: Mapping[str, Any]) -> ProvenIdentity:
    """Return the identity of an account of a provider that the operator has added.

    Its word on an address counts only if the operator says so: others let their users enter any address.
    """
    proven = _of_claims(external.provider, claims, external.trusts_email and claims.get("email_verified"))
    return replace(proven, subject=external.subject_of(proven.subject), is_email_trusted=external.trusts_email)


def connection_identity(
    claims: Mapping[str, Any], mapping: Mapping[str, str], id_token: Secret | None = None
) -> ProvenIdentity:
    """Return the identity of an account at an organization's own provider.

    Whether its address counts is decided by the domains that the organization has verified. The ID token is kept with
    the session where signing out goes on to the provider.
    """
    _require_text(claims)
    email = given_address(claims.get(mapping.get("email", "email")))
    mapped = mapping.get("id", "sub")
    return ProvenIdentity(
        provider=Provider.UPSTREAM,
        subject=_text_or_number(claims.get(mapped)),
        own_subject=claims.get("sub") if mapped != "sub" else None,
        email=email,
        denies_email=claims.get("email_verified", True) not in _TRUE,
        provider_session=_provider_session(claims, id_token),
        groups=asserted.groups_in_claims(claims, mapping.get("groups")),
        names=asserted.names_in_claims(claims, mapping),
    )


def _provider_session(claims: Mapping[str, Any], id_token: Secret | None) -> ProviderSession | None:
    """Return how an OpenID provider names the session, for its logout tokens; None when it names no user."""
    subject, session_id = claims.get("sub"), claims.get("sid")
    if not isinstance(subject, str):
        return None
    is_kept = id_token is not None and len(id_token.reveal()) <= ID_TOKEN_CHARACTERS_MAX
    return ProviderSession(
        name_id=subject,
        session_index=session_id if is_session_id(session_id) else None,
        id_token=id_token if is_kept else None,
    )


def is_session_id(value: Any) -> bool:
    """Return whether a claim names a session of a provider."""
    return isinstance(value, str) and 0 < len(value) <= SESSION_ID_CHARACTERS_MAX and value.isprintable()


def is_token_id(value: Any) -> TypeGuard[str]:
    """Return whether a claim is the id by which a token of a provider is taken once."""
    return isinstance(value, str) and 0 < len(value) <= TOKEN_ID_CHARACTERS_MAX and value.isprintable()


def moment_of(value: object) -> datetime | None:
    """Return the moment of a numeric date (RFC 7519, 2); None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def with_tokens(identity: ProvenIdentity, tokens: ProviderTokens) -> ProvenIdentity:
    """Return an identity with the tokens that its provider has issued."""
    return replace(identity, tokens=tokens)


def require_valid_claims(
    claims: Mapping[str, Any], *, client_id: str, nonce: str, at: datetime, issuer: str | None = None
) -> None:
    """Raise `UpstreamFailed` for an ID token that is not for us and for this sign-in (OpenID Connect Core, 3.1.3.7)."""
    problem = _problem_of_claims(claims, client_id=client_id, nonce=nonce, at=at, issuer=issuer)
    if problem is not None:
        refusal = UpstreamFailed().because(problem)
        refusal.claims = claims
        raise refusal


def _problem_of_claims(
    claims: Mapping[str, Any], *, client_id: str, nonce: str, at: datetime, issuer: str | None
) -> str | None:
    audience = claims.get("aud")
    audiences = cast("list[Any]", audience) if isinstance(audience, list) else [audience]
    if issuer is not None and claims.get("iss") != issuer:
        return "token_of_another_issuer"
    if client_id not in audiences or claims.get("azp", client_id) != client_id:
        return "wrong_audience"
    if len(audiences) > 1 and "azp" not in claims:
        return "no_authorized_party"
    expires = claims.get("exp")
    # Compared, never computed with: a number of a provider may be too large to become a float, or NaN.
    if not isinstance(expires, int | float) or not expires >= (at - CLOCK_SKEW).timestamp():
        return "expired"
    begins = [claims.get(name, at.timestamp()) for name in ("iat", "nbf")]
    if not all(isinstance(one, int | float) and one <= (at + CLOCK_SKEW).timestamp() for one in begins):
        return "from_the_future"
    return "wrong_nonce" if claims.get("nonce") != nonce else None


def provider_tokens(answer: Mapping[str, Any], client_id: str, *, at: datetime) -> ProviderTokens:
    """Return the tokens of an answer of a token endpoint; raise `UpstreamFailed` for an answer without one."""
    access_token = answer.get("access_token")
    if not isinstance(access_token, str) or not 0 < len(access_token) <= TOKEN_CHARACTERS_MAX:
        raise UpstreamFailed().because("no_access_token")
    given = answer.get("refresh_token")
    refresh_token = given if isinstance(given, str) and 0 < len(given) <= TOKEN_CHARACTERS_MAX else None
    return ProviderTokens(
        client_id=client_id,
        access_token=Secret(access_token),
        refresh_token=Secret(refresh_token) if refresh_token is not None else None,
        expires_at=_expiry(answer.get("expires_in"), at),
        scopes=_scopes(answer.get("scope")),
    )


def checked_subject(value: Any) -> str:
    """Return the stable id of an account; raise `UpstreamFailed` for anything but a text.

    A number is none (OpenID Connect Core, 2): two programs may read a long one as different numbers.
    """
    if not isinstance(value, str):
        raise UpstreamFailed("The id of the account (sub) is not a text.").because("no_subject")
    if not is_subject(value):
        raise UpstreamFailed().because("no_subject")
    return value


def is_subject(value: Any) -> bool:
    """Return whether a claim is the stable id of an account."""
    return isinstance(value, str) and 0 < len(value) <= SUBJECT_CHARACTERS_MAX and value.isprintable()


def _require_text(claims: Mapping[str, Any]) -> None:
    """Raise `UpstreamFailed` for claims whose `sub` is not a text, even if another claim has the stable id."""
    if "sub" in claims:
        checked_subject(claims["sub"])


def _text_or_number(value: Any) -> str:
    """Return the stable id of an account that no standard defines, as text; some providers send a number."""
    return checked_subject(str(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def checked_address(value: Any) -> str | None:
    """Return what may be an address; None for anything else."""
    is_address = isinstance(value, str) and 0 < len(value) <= ADDRESS_CHARACTERS_MAX and value.isprintable()
    return value if is_address and "@" in value else None


def given_address(value: Any) -> str | None:
    """Return what a connection gave as the address, even if it is none; None for nothing that could be shown."""
    is_shown = isinstance(value, str) and 0 < len(value) <= ADDRESS_CHARACTERS_MAX and value.isprintable()
    return value if is_shown else None


def _of_claims(provider: Provider, claims: Mapping[str, Any], says_verified: object) -> ProvenIdentity:
    email = checked_address(claims.get("email"))
    return ProvenIdentity(
        provider=provider,
        subject=checked_subject(claims.get("sub")),
        email=email,
        is_email_verified=email is not None and says_verified in _TRUE,
    )


def _expiry(value: Any, at: datetime) -> datetime | None:
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdecimal():
        return None
    return at + timedelta(seconds=min(int(text[:12]), _LIFETIME_SECONDS_MAX))


def _scopes(value: Any) -> tuple[str, ...]:
    # codehost separates them by commas.
    text = value[:TOKEN_CHARACTERS_MAX] if isinstance(value, str) and value.isprintable() else ""
    return tuple(text.replace(",", " ").split()[:SCOPES_MAX])
