"""Rules by which groups give roles, as values."""

from __future__ import annotations

import pytest

from core.organizations.group_roles import WantedRule

CONNECTION = "0191d3c1-0000-7000-8000-00000000000f"


@pytest.mark.parametrize(
    ("source", "group", "expected"),
    [
        ("scim", "0191d3c1-0000-7000-8000-000000000001", False),
        (CONNECTION, "0191d3c1-0000-7000-8000-000000000001", False),
        (CONNECTION, "Sales", True),
    ],
)
def test_a_rule_counts_by_a_name_where_a_connection_sends_no_id(source: str, group: str, expected: bool) -> None:
    assert WantedRule(source=source, group=group, role="sales").is_by_name is expected
