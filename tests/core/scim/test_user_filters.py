"""What filters of users mean."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from adapters.domain_names import IdnaDomainNames
from core.scim.filters import Operator, parse
from core.scim.refusals import InvalidFilter
from core.scim.user_filters import Always, Both, Column, Compared, Condition, Either, Given, Opposite, condition_of

to_ascii = IdnaDomainNames().to_ascii
ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
MOMENT = datetime(2026, 1, 31, 12, tzinfo=UTC)
NEVER = Always(is_true=False)
ALWAYS = Always(is_true=True)


def condition(text: str) -> Condition:
    return condition_of(parse(text), to_ascii)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('userName eq "Ada@Example.COM"', Compared(Column.USER_NAME, Operator.EQ, "ada@example.com")),
        ('userName eq "ada@bücher.example"', Compared(Column.USER_NAME, Operator.EQ, "ada@xn--bcher-kva.example")),
        ('USERNAME SW "Ada"', Compared(Column.USER_NAME, Operator.SW, "ada")),
        ('externalId eq "A1"', Compared(Column.EXTERNAL_ID, Operator.EQ, "A1")),
        ('displayName co "Lovelace"', Compared(Column.DISPLAY_NAME, Operator.CO, "lovelace")),
        ('emails eq "a@b.example"', Compared(Column.EMAIL, Operator.EQ, "a@b.example")),
        (f'id eq "{str(ID).upper()}"', Compared(Column.ID, Operator.EQ, ID)),
        ('id eq "nonsense"', NEVER),
        ('id ne "nonsense"', ALWAYS),
        ('id sw "0196"', Compared(Column.ID, Operator.SW, "0196")),
        ("active eq true", Compared(Column.IS_ACTIVE, Operator.EQ, True)),
        ('active ne "False"', Compared(Column.IS_ACTIVE, Operator.NE, False)),
        ('meta.created ge "2026-01-31T13:00:00+01:00"', Compared(Column.CREATED_AT, Operator.GE, MOMENT)),
        ('meta.lastModified lt "2026-01-31T12:00:00"', Compared(Column.UPDATED_AT, Operator.LT, MOMENT)),
        ("externalId pr", Given(Column.EXTERNAL_ID)),
        ("userName pr", ALWAYS),
        ("emails.type pr", ALWAYS),
        ("externalId eq null", Opposite(Given(Column.EXTERNAL_ID))),
        ("externalId ne null", Opposite(Opposite(Given(Column.EXTERNAL_ID)))),
        ("userName eq null", NEVER),
        ('emails.type eq "WORK"', ALWAYS),
        ('emails.type ne "work"', NEVER),
        ('emails.type eq "home"', NEVER),
        ("emails.primary eq 1 or id pr", None),
        ('emails.primary eq "true"', Compared(Column.IS_PRIMARY, Operator.EQ, True)),
        ("emails.type eq true", NEVER),
        ("not (id pr)", Opposite(ALWAYS)),
        (
            'emails[type eq "work" and (value co "A" or not (value pr))]',
            Both(ALWAYS, Either(Compared(Column.EMAIL, Operator.CO, "a"), Opposite(ALWAYS))),
        ),
        ('urn:ietf:params:scim:schemas:core:2.0:User:id eq "x"', NEVER),
    ],
)
def test_a_filter_means_a_condition(text: str, expected: Condition | None) -> None:
    if expected is None:
        with pytest.raises(InvalidFilter):
            condition(text)
        return

    assert condition(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'name.givenName eq "Ada"',
        'nickName eq "Ada"',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "x"',
        "userName eq 1",
        "externalId eq true",
        "externalId gt null",
        "id eq 1",
        'active gt "true"',
        'active eq "yes"',
        "active eq 1",
        'meta.created co "2026"',
        'meta.created eq "yesterday"',
        'meta.created eq "0001-01-01T00:00:00+14:00"',
        'emails.type gt "a"',
        'emails[value.x eq "a"]',
        "emails[value[type pr]]",
    ],
)
def test_a_filter_without_a_meaning_is_refused(text: str) -> None:
    with pytest.raises(InvalidFilter):
        condition(text)
