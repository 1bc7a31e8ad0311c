"""Every place of the interface that names the requirements of an operation names all of them."""

from __future__ import annotations

from core.organizations.access import Operation


def test_every_capability_of_an_operation_is_in_its_requirement() -> None:
    for operation in Operation:
        named = operation.requirement.split(" and ")

        assert named[0] == operation.takes
        assert set(named) == {operation.takes, *operation.capabilities}
    assert Operation.SIEM_CONFIGURE.requirement == "integrations.manage and audit_logs.view"
    assert Operation.SCIM_TOKEN_CREATE.requirement == "integrations.manage and org.members.manage"
    assert Operation.ORGANIZATION_DELETE.requirement == "owner"
