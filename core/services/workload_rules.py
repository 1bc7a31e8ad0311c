"""Rules by which programs authenticate without a secret: by tokens of another issuer (ops/decisions/0071).

A workload is such a rule: the issuer, where its keys are, the audience, and claims with the exact values that they must
have. Anyone can get a token of an issuer that many parties share, so a rule for it names its owner by ids: a name may
pass to another owner. Making a rule is in `workloads.py`, judging a token by it in `core/openid/workloads.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, cast
from urllib.parse import urlsplit
from uuid import UUID

from core.errors import BadRequest, all_valid
from core.lazy_dataclasses import dataclass
from core.outbound import checked_url
from core.services.client_records import Outside, require_keys
from core.text import checked_name
from core.wording import Wording


class Provider(StrEnum):
    """An issuer that many parties share, so that only the claims of a token tell its owner."""

    GITHUB = "GitHub Actions"
    GITLAB = "GitLab"
    ENTRA = "Microsoft Entra"
    GOOGLE = "Google"


# By the host of the issuer, whatever its path.
_SHARED: Final[Mapping[str, Provider]] = {
    "token.actions.githubusercontent.com": Provider.GITHUB,
    "gitlab.com": Provider.GITLAB,
    "login.microsoftonline.com": Provider.ENTRA,
    "login.microsoftonline.us": Provider.ENTRA,
    "login.partner.microsoftonline.cn": Provider.ENTRA,
    "login.windows.net": Provider.ENTRA,
    "sts.windows.net": Provider.ENTRA,
    "accounts.google.com": Provider.GOOGLE,
}
# A rule must name each of the first claims, and one of the others, if there are any.
_REQUIRED: Final[Mapping[Provider | None, tuple[Sequence[str], Sequence[str]]]] = {
    Provider.GITHUB: (("repository_id",), ("environment", "ref", "job_workflow_ref")),
    Provider.GITLAB: (("project_id",), ("ref", "environment")),
    Provider.ENTRA: (("tid", "oid"), ()),
    Provider.GOOGLE: (("sub",), ()),
    None: (("sub",), ()),
}


def required_claims(issuer: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the claims that a rule for an issuer must name, and others of which it must name one, if there are any."""
    return _REQUIRED[provider_of(issuer)]


def provider_of(issuer: str) -> Provider | None:
    """Return the provider that an issuer belongs to, if many share it."""
    try:
        host = urlsplit(issuer.strip()).hostname or ""
    except ValueError:
        return None
    return _SHARED.get(host.rstrip("."))


CLAIMS_MAX: Final = 20
CLAIM_CHARACTERS_MAX: Final = 200
VALUE_CHARACTERS_MAX: Final = 500
# Of each shown value of a refused token; its sender may have chosen it.
SHOWN_CHARACTERS_MAX: Final = 200
_LISTED_MAX: Final = 20
# A claim that is no text fits nothing, except the audience, which may be a list (RFC 7519, 4.1.3).
_AUDIENCE: Final = "aud"


class RefusalReason(StrEnum):
    """Why a token was refused, in the order of the checks."""

    KEYS_UNAVAILABLE = "keys_unavailable"
    SIGNATURE = "signature"
    AUDIENCE = "audience"
    LIFETIME = "lifetime"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    CLAIMS = "claims"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAssertion:
    """The last token that did not fit, with the claims that the rule names, None for a missing one."""

    at: datetime
    reason: RefusalReason
    claims: dict[str, Any]

    @property
    def is_verified(self) -> bool:
        """Whether the issuer had signed the token."""
        return self.reason not in {RefusalReason.KEYS_UNAVAILABLE, RefusalReason.SIGNATURE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A program that authenticates by the tokens of another issuer, and the rule that they must fit."""

    id: UUID
    name: str
    issuer: str
    jwks_uri: str | None
    jwks: dict[str, Any] | None
    audience: str | None
    match: dict[str, str]
    created_at: datetime
    last_used_at: datetime | None = None
    last_refused: RefusedAssertion | None = None

    def fits(self, claims: Mapping[str, Any]) -> bool:
        """Return whether the claims have the values of the rule."""
        return all(_has(claims, name, value) for name, value in self.match.items())

    def has_audience(self, claims: Mapping[str, Any], issuer: str) -> bool:
        """Return whether a token is meant for this rule: for our issuer, unless the rule names another audience."""
        return _has(claims, _AUDIENCE, self.audience if self.audience is not None else issuer)

    def named_claims(self, claims: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a refused token has for the claims of the rule, in a form that can be stored and shown."""
        return {name: _shown(_value_at(claims, name)) for name in self.match}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFields:
    """The fields of a new workload."""

    name: str
    issuer: str
    match: Mapping[str, str]
    jwks_uri: str | None = None
    jwks: Mapping[str, Any] | None = field(default=None, repr=False)
    audience: str | None = None


def checked(given: WorkloadFields, outside: Outside) -> WorkloadFields:
    """Return the stored form of the fields; raise one `BadRequest` for all that is wrong."""
    name, issuer, jwks_uri, _, audience, match = all_valid(
        lambda: checked_name(given.name, characters_min=1),
        lambda: _checked_issuer(given.issuer, outside),
        lambda: _checked_address(given.jwks_uri, "jwks_uri", outside) if given.jwks_uri else None,
        lambda: require_keys(given.jwks_uri or None, given.jwks),
        lambda: _checked_audience(given.audience),
        lambda: _checked_match(given.match, required_claims(given.issuer)),
    )
    return WorkloadFields(name=name, issuer=issuer, match=match, jwks_uri=jwks_uri, jwks=given.jwks, audience=audience)


def _checked_issuer(text: str, outside: Outside) -> str:
    issuer = _checked_address(text, "issuer", outside)
    if "?" in issuer or "#" in issuer:
        raise BadRequest.of_field("issuer", "An issuer has no query and no fragment.")
    if (urlsplit(issuer).hostname or "").rstrip(".") in outside.own_hosts:
        # Its keys sign for all organizations of this installation.
        raise BadRequest.of_field("issuer", "The platform itself cannot be the issuer. Use the client secret instead.")
    return issuer


def _checked_address(text: str, field: str, outside: Outside) -> str:
    """Return an https address, or in development mode also one on the machine itself; raise `BadRequest`."""
    address = checked_url(text, outside.allowed_networks, field=field)
    if urlsplit(address).scheme != "https" and not outside.allows_loopback:
        raise BadRequest.of_field(field, "This address must begin with https://.")
    return address


def _checked_audience(audience: str | None) -> str | None:
    if not audience:
        return None
    if len(audience) > VALUE_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "audience", Wording("An audience has at most %(maximum)s characters.", maximum=VALUE_CHARACTERS_MAX)
        )
    return audience


def _checked_match(match: Mapping[str, str], required: tuple[Sequence[str], Sequence[str]]) -> dict[str, str]:
    needed, one_of = required
    if not 1 <= len(match) <= CLAIMS_MAX:
        raise BadRequest.of_field("match", Wording("Name 1 to %(maximum)s claims.", maximum=CLAIMS_MAX))
    for name, value in match.items():
        if not 1 <= len(name) <= CLAIM_CHARACTERS_MAX or not 1 <= len(value) <= VALUE_CHARACTERS_MAX:
            raise BadRequest.of_field(
                "match",
                Wording(
                    "The name of a claim has 1 to %(name)s characters, and its value 1 to %(value)s.",
                    name=CLAIM_CHARACTERS_MAX,
                    value=VALUE_CHARACTERS_MAX,
                ),
            )
    missing = [name for name in needed if name not in match]
    if missing:
        raise BadRequest.of_field(
            "match",
            Wording("A rule for this issuer names %(claims)s. Add what is missing.", claims=", ".join(needed)),
        )
    if one_of and not set(one_of) & match.keys():
        raise BadRequest.of_field(
            "match",
            Wording("A rule for this issuer also names one of %(claims)s. Add it.", claims=", ".join(one_of)),
        )
    return dict(match)


def _value_at(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by the path to a nested one, `kubernetes.io/pod/uid`; None without it."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("/"):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, Any]", value).get(part)
    return value


def _has(claims: Mapping[str, Any], name: str, value: str) -> bool:
    found = _value_at(claims, name)
    if name == _AUDIENCE and isinstance(found, list):
        return value in cast("list[Any]", found)
    return isinstance(found, str) and found == value


def _shown(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str):
        # PostgreSQL stores neither lone surrogates nor NUL.
        return value[:SHOWN_CHARACTERS_MAX].encode(errors="replace").decode().replace("\x00", "\ufffd")
    if isinstance(value, list):
        listed = [one if isinstance(one, str) else "…" for one in cast("list[Any]", value)[:_LISTED_MAX]]
        return _shown(json.dumps(listed, ensure_ascii=False))
    return "{…}" if isinstance(value, dict) else _shown(f"{value} (no text)")
