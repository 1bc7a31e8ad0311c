"""What a change of a connection means for its metadata, its certificates and the people linked to it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast
from uuid import UUID

import pytest

from core.key_certificates import SamlCertificate
from core.sign_in.upstream.connections import changes
from core.sign_in.upstream.connections.changes import PublishedMetadata
from core.sign_in.upstream.connections.connection_fields import ConnectionFields
from core.sign_in.upstream.connections.connection_keys import OVERLAP, metadata_valid_until
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.revocation.moves import ChangeEffects
from core.sign_in.upstream.saml import PERSISTENT, UNSPECIFIED
from ports.unit_of_work import UnitOfWork
from tests.core.sign_in.upstream.test_connection_fields import AT, CONNECTION

PUBLISHED = PublishedMetadata(
    organization_id=UUID(int=1),
    connection_id=CONNECTION.id,
    metadata_url="https://idp.example/metadata",
    issuer=CONNECTION.issuer,
    certificates=sorted(changes.fingerprints(["one"])),
)


def test_published_metadata_are_pinned_to_their_provider_and_name_what_is_new() -> None:
    assert (PUBLISHED.metadata.url, PUBLISHED.metadata.entity_id) == (PUBLISHED.metadata_url, CONNECTION.issuer)
    assert PUBLISHED.names(["one"]) is None
    assert PUBLISHED.names(["one", "two"]) == changes.fingerprints(["two", "one"])
    assert replace(PUBLISHED, certificates=None).names(["one"]) == changes.fingerprints(["one"])


def test_an_editor_who_may_not_vouch_and_names_the_same_address_stores_nothing() -> None:
    given = ConnectionFields(metadata_url=CONNECTION.metadata_url)
    nothing = cast("UnitOfWork", None)

    changes.vouch_for_certificates(nothing, Editor(organization_id=UUID(int=1)), CONNECTION, CONNECTION, given)


@pytest.mark.parametrize("days", [-1, 0, 1])
def test_our_metadata_end_with_the_active_certificate_and_not_before_an_overlap(days: int) -> None:
    end = AT + OVERLAP + timedelta(days=days)
    active = certificate(end)

    assert metadata_valid_until([active, certificate(end + timedelta(days=9))], at=AT) == max(end, AT + OVERLAP)


def test_a_request_asks_for_the_format_that_is_set() -> None:
    assert CONNECTION.asked_format == UNSPECIFIED
    assert replace(CONNECTION, name_id_format=PERSISTENT).asked_format == PERSISTENT


@pytest.mark.parametrize(("unlinked", "ends"), [(0, False), (1, True)])
def test_a_change_ends_links_where_it_unlinks_somebody(unlinked: int, *, ends: bool) -> None:
    effects = ChangeEffects(identities_unlinked=unlinked, sessions_ended=2, at_once=0, by_code=0, kept_out=0)

    assert effects.ends_links is ends


def certificate(valid_until: datetime) -> SamlCertificate:
    """Return a certificate with this end."""
    return SamlCertificate(
        id=UUID(int=1),
        public_key="",
        valid_from=AT,
        valid_until=valid_until,
        is_active=True,
        created_at=AT,
    )
