"""What an upstream connection is, and the fields of one that are to be set; the use cases are in `connections.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Connection`
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - likewise

from core.sign_in.upstream.saml import SamlMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class ConnectionType(StrEnum):
    """The protocol of a connection."""

    OIDC = "oidc"
    SAML = "saml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
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
    attribute_mapping: dict[str, str]
    joins_as: str | None
    trust_mfa: bool
    enabled: bool
    created_at: datetime
    updated_at: datetime

    @property
    def is_saml(self) -> bool:
        """Whether its provider speaks SAML."""
        return self.type is ConnectionType.SAML

    @property
    def metadata(self) -> SamlMetadata:
        """The metadata of its identity provider, which may not become another one's unnoticed."""
        return SamlMetadata(url=self.metadata_url, xml=self.metadata_xml, entity_id=self.issuer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionWishes:
    """The fields to set; None leaves one as it is. An empty `joins_as` makes no members."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: Sequence[str] | None = None
    metadata_url: str | None = None
    metadata_xml: str | None = None
    attribute_mapping: Mapping[str, str] | None = None
    joins_as: str | None = None
    trust_mfa: bool | None = None
    enabled: bool | None = None
