"""A connection, and the values that its fields accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.errors import BadRequest, FieldError, all_checked
from core.lazy_dataclasses import dataclass
from core.outbound import URL_CHARACTERS_MAX, Network, checked_url
from core.secrets import Secret
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.saml import NAME_FORMATS, UNSPECIFIED, SamlDescription, SamlMetadata
from core.text import checked_public_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SCOPES_MAX: Final = 20
CLAIM_CHARACTERS_MAX: Final = 255
# What an attribute mapping may name: where the stable id, the address, the groups and the names of a person are.
MAPPED: Final = frozenset({"id", "email", "groups", "name", "given_name", "family_name"})
_OF_OPENID: Final = ("issuer", "client_id", "client_secret", "scopes", "signs_out_at_provider")
# The secret is stored beside the connection, and metadata are applied as they were read.
_APPLIED_APART: Final = frozenset({"client_secret", "metadata_url", "metadata_xml"})
_OF_SAML: Final = ("metadata_url", "metadata_xml", "token_issuer", "name_id_format")
_SHORT_FORMATS: Final = {one.rpartition(":")[2]: one for one in NAME_FORMATS}
_THIS_MACHINE: Final = frozenset({"127.0.0.1", "::1", "localhost"})
# What documentation writes in place of a name, also as a browser encodes it.
_PLACEHOLDER: Final = re.compile("[{}<>]|%7[bd]|%3[ce]", re.IGNORECASE)
# No token has one of these as its issuer: a token names the tenant of its user.
_OF_ALL_TENANTS: Final = re.compile(
    r"https?://(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn|login\.windows\.net|sts\.windows\.net)"
    r"(:\d+)?/+(common|organizations|consumers)(/|$)",
    re.IGNORECASE,
)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]{1,500}")
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,255}")


class ConnectionType(StrEnum):
    """The protocol of a connection."""

    OIDC = "oidc"
    SAML = "saml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRecord:
    """A connection, without its secret. One by SAML has an issuer as soon as it has metadata."""

    id: UUID
    type: ConnectionType
    name: str
    issuer: str | None
    client_id: str | None
    has_secret: bool
    scopes: list[str]
    metadata_url: str | None
    metadata_xml: str | None
    # From the metadata: when they end, and whether their identity provider wants signed requests.
    metadata_valid_until: datetime | None
    signs_requests: bool
    attribute_mapping: dict[str, str]
    joins_as: str | None
    trust_mfa: bool
    enabled: bool
    # By SAML: who signs the tokens by which its identity provider ends sessions (`global_token_revocation.py`).
    token_issuer: str | None = None
    # By SAML: the format of names that requests ask for; None lets the identity provider choose.
    name_id_format: str | None = None
    # By OpenID Connect: whether signing out here leads on to the provider.
    signs_out_at_provider: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def is_saml(self) -> bool:
        """Whether its provider speaks SAML."""
        return self.type is ConnectionType.SAML

    @property
    def maps_id(self) -> bool:
        """Whether people are known by another id than the one by which their provider names them."""
        mapped = self.attribute_mapping.get("id")
        return mapped is not None and (self.is_saml or mapped != "sub")

    @property
    def asked_format(self) -> str:
        """The format of names that a request by SAML asks for."""
        return self.name_id_format or UNSPECIFIED

    @property
    def metadata(self) -> SamlMetadata:
        """The metadata of its identity provider, which must not become another's unnoticed."""
        return SamlMetadata(url=self.metadata_url, xml=self.metadata_xml, entity_id=self.issuer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFields:
    """The fields to set; None leaves one as it is. An empty `joins_as` makes no members.

    An empty `token_issuer` takes no tokens of the identity provider, and an empty `name_id_format` asks for none.
    """

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: list[str] | None = None
    metadata_url: str | None = None
    metadata_xml: str | None = None
    attribute_mapping: dict[str, str] | None = None
    joins_as: str | None = None
    trust_mfa: bool | None = None
    token_issuer: str | None = None
    name_id_format: str | None = None
    signs_out_at_provider: bool | None = None
    enabled: bool | None = None


def require_complete(connection: ConnectionRecord, given: ConnectionFields) -> None:
    """Raise `BadRequest` that names the fields which a new connection lacks and cannot do without."""
    required = ("name",) if connection.is_saml else ("name", "issuer", "client_id", "client_secret")
    missing = [name for name in required if getattr(given, name) is None]
    if missing:
        raise BadRequest.of_fields([FieldError(field=name, message="This is required.") for name in missing])


def applied(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord,
    given: ConnectionFields,
    described: SamlDescription | None,
    allowed: Sequence[Network],
    *,
    is_new: bool = False,
) -> ConnectionRecord:
    """Return a connection with the fields that are to be set; raise one `BadRequest` for all that are not valid.

    A connection that is made with its metadata is switched on, unless they say otherwise; a change switches on
    only what it names.
    """
    values = {name: value for name, value in _values(given).items() if value is not None}
    others = _OF_OPENID if before.is_saml else _OF_SAML
    checks: dict[str, Callable[[Any], Any]] = {
        "name": checked_public_name,
        "issuer": partial(_checked_issuer, allowed=allowed),
        "client_id": partial(_checked_text, name="client_id"),
        "client_secret": partial(_checked_text, name="client_secret"),
        "scopes": checked_scopes,
        "attribute_mapping": _checked_mapping,
        "joins_as": lambda _: _role(uow, editor, before, given),
        "trust_mfa": lambda _: _trust(editor, before, given),
        "token_issuer": partial(_checked_token_issuer, allowed=allowed),
        "name_id_format": _checked_format,
        **{name: partial(_refuse, name=name, kind=before.type) for name in others},
    }
    checked = all_checked(values, checks)
    after = replace(before, **{name: value for name, value in checked.items() if name not in _APPLIED_APART})
    if described is not None:
        after = _with_metadata(after, given, described)
        if is_new and given.enabled is None:
            after = replace(after, enabled=True)
    if after.is_saml and after.enabled and after.issuer is None:
        raise BadRequest.of_field("enabled", "Set the metadata of the identity provider first.")
    return after


def _values(given: ConnectionFields) -> dict[str, Any]:
    return {one.name: getattr(given, one.name) for one in fields(given)}


def _refuse(_: Any, *, name: str, kind: ConnectionType) -> None:
    raise BadRequest.of_field(name, Wording("A connection of the type %(kind)s has no such field.", kind=kind))


def metadata_of(given: ConnectionFields, allowed: Sequence[Network]) -> tuple[str | None, str | None]:
    """Return the address and the text of the metadata that are to be set, of which at most one is there."""
    if given.metadata_url is not None and given.metadata_xml is not None:
        raise BadRequest.of_field("metadata_xml", "Send the metadata or their address, not both.")
    url = given.metadata_url
    return _checked_https(url, allowed, "metadata_url") if url is not None else None, given.metadata_xml


def secret(given: ConnectionFields) -> Secret | None:
    """Return the client secret that is to be set; None for none."""
    return None if given.client_secret is None else Secret(_checked_text(given.client_secret, "client_secret"))


def _with_metadata(
    connection: ConnectionRecord, given: ConnectionFields, described: SamlDescription
) -> ConnectionRecord:
    if not is_protected(described.sso_url):
        field = "metadata_xml" if given.metadata_url is None else "metadata_url"
        raise BadRequest.of_field(field, "The SingleSignOnService of these metadata must have an https address.")
    url = given.metadata_url.strip() if given.metadata_url is not None else None
    return replace(
        connection,
        issuer=described.entity_id,
        metadata_url=url,
        metadata_xml=given.metadata_xml,
        metadata_valid_until=described.valid_until,
        signs_requests=described.wants_signed_requests,
    )


def _role(uow: UnitOfWork, editor: Editor, before: ConnectionRecord, given: ConnectionFields) -> str | None:
    """Return the role that people join with; raise for one that the editor may not give."""
    # A person who signs in by a connection that a vendor made for a customer does not become a member.
    wished = given.joins_as if not editor.is_for_customer else None
    if wished is None or wished == (before.joins_as or ""):
        return before.joins_as
    if wished and not editor.require_may_give(uow, wished):
        raise BadRequest.of_field("joins_as", "This must be member, or a custom role of this organization.")
    return wished or None


def _trust(editor: Editor, before: ConnectionRecord, given: ConnectionFields) -> bool:
    """Return whether the connection replaces a second factor; raise `Forbidden` where the editor may not let it."""
    if given.trust_mfa is None or given.trust_mfa == before.trust_mfa or editor.is_for_customer:
        return before.trust_mfa
    if given.trust_mfa:
        editor.require_may_trust()
    return given.trust_mfa


def names_no_tenant(issuer: str) -> bool:
    """Return whether an issuer has a placeholder in place of the provider's tenant, or stands for all tenants."""
    # A longer text is no address.
    begin = issuer.strip()[:URL_CHARACTERS_MAX]
    return bool(_PLACEHOLDER.search(begin) or _OF_ALL_TENANTS.match(begin))


def _checked_issuer(text: str, allowed: Sequence[Network]) -> str:
    """Return the issuer; raise `BadRequest` also for one that stands for all tenants of the provider."""
    if names_no_tenant(text):
        raise BadRequest.of_field(
            "issuer",
            "This address has a placeholder where the name of your tenant belongs. Enter the id of your tenant (the"
            " directory id) instead, such as"
            " https://login.microsoftonline.com/0f8fad5b-d9cb-469f-a165-70867728950e/v2.0.",
        )
    return _checked_https(text, allowed, "issuer")


def _checked_token_issuer(text: str, *, allowed: Sequence[Network]) -> str | None:
    """Return the issuer of tokens, None for an empty text; raise `BadRequest` of the field."""
    if not text.strip():
        return None
    if names_no_tenant(text):
        raise BadRequest.of_field("token_issuer", "Enter the id of your tenant in place of the placeholder.")
    return _checked_https(text, allowed, "token_issuer")


def _checked_format(text: str) -> str | None:
    """Return the format with this long or short name, None for an empty text; raise `BadRequest`."""
    stripped = text.strip()
    if not stripped:
        return None
    found = _SHORT_FORMATS.get(stripped.rpartition(":")[2])
    if found is None or stripped not in {found, found.rpartition(":")[2]}:
        names = ", ".join(NAME_FORMATS)
        raise BadRequest.of_field("name_id_format", Wording("This must be one of %(names)s.", names=names))
    return found


def _checked_https(text: str, allowed: Sequence[Network], field: str) -> str:
    url = checked_url(text, allowed, field=field)
    # Keys must not be changed in transit; only a provider on this machine needs no TLS.
    if not is_protected(url):
        raise BadRequest.of_field(field, "This must be an https address.")
    return url


def is_protected(url: str) -> bool:
    """Return whether a URL uses https, or leads to this machine, and can be in a header."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    # Parsing a URL removes line breaks from its parts.
    return (
        url.isprintable()
        and bool(parts.hostname)
        and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _THIS_MACHINE))
    )


def _checked_text(text: str, name: str) -> str:
    stripped = text.strip()
    if not _PRINTABLE.fullmatch(stripped):
        raise BadRequest.of_field(name, "1 to 500 characters, without blanks.")
    return stripped


def checked_scopes(scopes: Sequence[str]) -> list[str]:
    """Return the scopes to ask for, each once and openid among them; raise `BadRequest` for the field `scopes`."""
    unique = list(dict.fromkeys(("openid", *scopes)))
    if len(unique) > SCOPES_MAX or not all(_SCOPE.fullmatch(scope) for scope in unique):
        raise BadRequest.of_field(
            "scopes", Wording("At most %(maximum)s scopes, without blanks, quotes and backslashes.", maximum=SCOPES_MAX)
        )
    return unique


def _checked_mapping(mapping: Mapping[str, str]) -> dict[str, str]:
    if not mapping.keys() <= MAPPED:
        raise BadRequest.of_field(
            "attribute_mapping", Wording("Only %(names)s can be mapped.", names=", ".join(sorted(MAPPED)))
        )
    if not all(0 < len(claim) <= CLAIM_CHARACTERS_MAX and claim.isprintable() for claim in mapping.values()):
        raise BadRequest.of_field(
            "attribute_mapping", Wording("A claim has 1 to %(maximum)s characters.", maximum=CLAIM_CHARACTERS_MAX)
        )
    return dict(mapping)
