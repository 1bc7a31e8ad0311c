"""What the record of a person says of its parts."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from core.audit.person_records import PersonRecord, PersonService, PersonSession
from core.sign_in.sign_ins import SignInOrganization

ID = UUID("0191d3c1-0000-7000-8000-00000000000f")
NOW = datetime(2026, 2, 3, tzinfo=UTC)


def record(services: list[PersonService] | None) -> PersonRecord:
    """Return the record of a person with these services; None is what the reader's role does not include."""
    return PersonRecord(
        is_member=True,
        is_told=True,
        may_be_exported=True,
        services=services,
        sessions=None,
        sessions_total=0,
        sign_ins=None,
        entries=None,
    )


def test_an_end_user_is_linked_to_a_service() -> None:
    service = PersonService(
        slug="shop",
        name="Shop",
        linked_at=NOW,
        last_sign_in_at=None,
        plan=None,
        subscription_status=None,
        current_period_end=None,
        is_billed=False,
    )

    assert record([service]).is_end_user
    assert not record([]).is_end_user
    assert not record(None).is_end_user


def test_a_session_says_what_its_browser_is() -> None:
    session = PersonSession(
        id=ID,
        provider="password",
        created_at=NOW,
        last_used_at=NOW,
        ip_address=None,
        user_agent="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        organization=SignInOrganization(id=ID, slug="acme", name="Acme"),
        service=None,
        connection=None,
    )

    assert (session.client.browser, session.client.os) == ("Firefox", "Linux")
