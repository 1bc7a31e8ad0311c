"""What the fields of a connection take."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.errors import BadRequest
from core.sign_in.upstream.connections import connection_fields
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord, ConnectionType

AT = datetime(2026, 2, 3, tzinfo=UTC)
CONNECTION = ConnectionRecord(
    id=UUID(int=1),
    type=ConnectionType.SAML,
    name="Acme",
    issuer="https://idp.example",
    client_id=None,
    has_secret=False,
    scopes=[],
    metadata_url="https://idp.example/metadata",
    metadata_xml=None,
    metadata_valid_until=None,
    signs_requests=False,
    attribute_mapping={},
    joins_as=None,
    trust_mfa=False,
    enabled=True,
    created_at=AT,
    updated_at=AT,
)


def test_the_metadata_of_a_connection_are_pinned_to_its_provider() -> None:
    assert CONNECTION.metadata.entity_id == "https://idp.example"
    assert CONNECTION.metadata.url == "https://idp.example/metadata"
    assert CONNECTION.is_saml
    assert not replace(CONNECTION, type=ConnectionType.OIDC).is_saml


def test_metadata_are_sent_or_named_by_their_address_but_not_both() -> None:
    url, xml = "https://idp.example/metadata", "<EntityDescriptor/>"

    assert connection_fields.metadata_of(ConnectionFields(), ()) == (None, None)
    assert connection_fields.metadata_of(ConnectionFields(metadata_url=url), ()) == (url, None)
    assert connection_fields.metadata_of(ConnectionFields(metadata_xml=xml), ()) == (None, xml)
    with pytest.raises(BadRequest):
        connection_fields.metadata_of(ConnectionFields(metadata_url=url, metadata_xml=xml), ())
