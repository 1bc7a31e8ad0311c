"""Filters of users, as the database applies them (RFC 7644, 3.4.2.2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.application import Answer
from tests.world.directory import Directory, assert_scim_refused

SECOND = timedelta(seconds=1)
ADA, BOB, CID = "Ada@Example.com", "bob_50%@example.com", "cid@bücher.example"


@pytest.fixture
async def people(directory: Directory) -> Directory:
    """Three users, besides the members that no directory has described."""
    await directory.create(ADA, externalId="A-1", displayName="Ada Lovelace")
    directory.world.clock.advance(SECOND)
    await directory.create(BOB, externalId="a-1", active=False)
    directory.world.clock.advance(SECOND)
    await directory.create(CID, displayName="Cid")
    directory.world.connection.execute(
        "UPDATE memberships SET created_at = '2026-01-01' WHERE confirmed_at IS NOT NULL"
    )
    return directory


async def described(directory: Directory, text: str) -> list[str]:
    """Return the users that a filter selects, without the members that no directory has described."""
    return [name for name in await directory.found(text) if name in {ADA, BOB, CID}]


SELECTED = [
    ('userName eq "ada@example.com"', [ADA]),
    ('userName eq "ADA@EXAMPLE.COM"', [ADA]),
    ('userName eq "cid@bücher.example"', [CID]),
    ('userName eq "cid@xn--bcher-kva.example"', [CID]),
    ('userName ne "ada@example.com"', [BOB, CID]),
    ('userName co "EXAMPLE.com"', [ADA, BOB]),
    ('userName co "_50%"', [BOB]),
    ('userName co "a%e"', []),
    ('userName sw "A"', [ADA]),
    ('userName ew "@bücher.example"', [CID]),
    ('userName ew ".com"', [ADA, BOB]),
    ('userName gt "ada@example.com" and userName lt "c"', [BOB]),
    ('userName ge "bob_50%@example.com" and userName le "cid@xn--bcher-kva.example"', [BOB, CID]),
    ('externalId eq "A-1"', [ADA]),
    ('externalId eq "a-1"', [BOB]),
    ('externalId sw "A"', [ADA]),
    ("externalId pr", [ADA, BOB]),
    ("not (externalId pr)", [CID]),
    ("externalId eq null", [CID]),
    ("externalId ne null", [ADA, BOB]),
    ('externalId ne "A-1"', [BOB, CID]),
    ('not (externalId eq "A-1")', [BOB, CID]),
    ('not (externalId eq "A-1" or displayName eq "cid")', [BOB]),
    ('not (not (externalId eq "A-1"))', [ADA]),
    ('displayName eq "ADA LOVELACE"', [ADA]),
    ('displayName co "c"', [ADA, CID]),
    ("active eq true", [ADA, CID]),
    ('active eq "False"', [BOB]),
    ("active ne true", [BOB]),
    ("active eq true and (displayName pr or externalId pr)", [ADA, CID]),
    ('emails.value eq "ada@example.com"', [ADA]),
    ('emails[type eq "work" and value sw "bob"]', [BOB]),
    ('emails[type eq "home"]', []),
    ('meta.created gt "2026-02-03T04:05:06Z"', [BOB, CID]),
    ('meta.lastModified le "2026-02-03T05:05:06+01:00"', [ADA]),
    ('id eq "nonsense"', []),
    ('id ne "nonsense" and externalId pr', [ADA, BOB]),
    ('id co "-" and userName sw "cid"', [CID]),
    ('urn:ietf:params:scim:schemas:core:2.0:User:userName sw "cid"', [CID]),
    ('USERNAME EQ "cid@bücher.example" AND NOT(externalId PR)', [CID]),
]


async def test_a_filter_selects_users(people: Directory) -> None:
    found = [(text, await described(people, text)) for text, _ in SELECTED]

    assert found == SELECTED


async def test_the_pages_of_a_filter_have_its_own_total(people: Directory) -> None:
    path = "/Users?filter=externalId%20pr%20or%20displayName%20pr"

    for query, names in [("", [ADA, BOB, CID]), ("&startIndex=2&count=1", [BOB]), ("&startIndex=4", [])]:
        listed = (await people.request("GET", path + query)).json
        assert [user["userName"] for user in listed["Resources"]] == names
        assert (listed["totalResults"], listed["itemsPerPage"]) == (3, len(names))


async def test_what_is_no_filter_is_400(directory: Directory, subtests: pytest.Subtests) -> None:
    for text in (
        "",
        "userName",
        'userName eq "',
        'name.givenName eq "Ada"',
        'password eq "x"',
        "active gt true",
        "(" * 50,
        "\x00",
    ):
        with subtests.test(text=text):
            assert_scim_refused(await directory.filtered(text), 400, "invalidFilter")


words = st.sampled_from(
    [
        *(
            "userName",
            "externalId",
            "id",
            "active",
            "emails",
            "emails.value",
            "meta.created",
            "displayName",
            "x",
            "urn:x:y",
        ),
        *("eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "pr", "and", "or", "not", "(", ")", "[", "]", "true"),
        *("null", "1", '"a"', '"2026-01-31T12:00:00Z"', '"0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"', '"%"', '"\\u0000"'),
        *('"\\ud800"', '"\'"', '"$1"', '"%s"', '"9999-12-31T23:59:59-23:59"', '"é"', "1e99", "--", ";"),
    ]
)
texts = st.one_of(
    st.lists(words, max_size=12).map(" ".join),
    st.text(max_size=40),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["userName", "externalId", "displayName", "emails.value", "id", "meta.created", "active"]),
        st.sampled_from(["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"]),
        st.text(max_size=20).map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"') | words,
    ),
)


@pytest.mark.hypothesis
async def test_any_text_is_a_filter_or_an_error_of_filters(directory: Directory) -> None:
    async def send(kind: str, text: str) -> Answer:
        return await directory.filtered(text, kind)

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(kind=st.sampled_from(["Users", "Groups"]), text=texts)
    def never_fails(kind: str, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            # It cannot be sent.
            return
        answer: Any = trio.from_thread.run(send, kind, text)
        if answer.status == 200:
            assert answer.json["totalResults"] == len(answer.json["Resources"])
        else:
            assert_scim_refused(answer, 400, "invalidFilter")

    await trio.to_thread.run_sync(never_fails)
