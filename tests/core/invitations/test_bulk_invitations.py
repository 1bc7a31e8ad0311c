"""The rows of a job that invites the people of a long list."""

from __future__ import annotations

from core.invitations import bulk_invitations
from core.invitations.bulk_invitations import LeftOut, details_of, rows_of
from core.limits import EMAIL_CHARACTERS_MAX
from core.organizations.bulk_jobs import WantedRow


def test_what_is_left_out_of_a_list_is_a_row_too() -> None:
    rows = rows_of(bulk_invitations.read("Ada,a@x.de,Sales\nA@x.de\nnothing"))

    assert rows == [
        WantedRow(label="Ada, Sales", seen=LeftOut.NAMES),
        WantedRow(label="A@x.de", seen=LeftOut.REPEATED),
        WantedRow(label="nothing"),
        WantedRow(label="a@x.de"),
    ]


def test_a_list_without_anything_left_out_has_the_rows_of_its_addresses() -> None:
    assert rows_of(bulk_invitations.read("a@x.de, b@x.de")) == [WantedRow(label="a@x.de"), WantedRow(label="b@x.de")]


def test_names_share_rows_that_are_no_longer_than_an_address() -> None:
    names = [f"name-{number:04}" for number in range(60)]

    rows = [row for row in rows_of(bulk_invitations.read(",".join([*names, "a@x.de"]))) if row.seen == LeftOut.NAMES]

    assert len(rows) == 3
    assert all(len(row.label) <= EMAIL_CHARACTERS_MAX + 1 for row in rows)
    assert ", ".join(row.label for row in rows).split(", ") == names


def test_a_job_says_what_each_of_its_invitations_includes() -> None:
    assert details_of("member", [], None) == details_of("member", [], "") == {"role": "member"}
    assert details_of("member", ["shop", "till"], "Hi") == {"role": "member", "services": "shop,till", "message": "Hi"}
