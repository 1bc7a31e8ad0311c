"""What a vendor can do in the internal organization of a customer: what the parts open, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from core.customers.setup_callers import SetupCaller
from core.errors import Forbidden
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess
from core.organizations.link_callers import Part, opened_for_customer

NOTHING: Any = None


@pytest.mark.parametrize("parts", [[], *([part] for part in Part)])
def test_a_setup_caller_does_what_its_parts_open_alone(parts: list[Part]) -> None:
    setup = SetupCaller(organization=NOTHING, parts=parts, vendor=NOTHING, customer=NOTHING, maker=NOTHING)
    access = OrganizationAccess(caller=NOTHING, organization=NOTHING, membership=NOTHING, capabilities=frozenset())
    opened = {operation for part in parts for operation in opened_for_customer(part)}

    for operation in Operation:
        if operation in opened:
            assert setup.narrowed(NOTHING, access, operation).capabilities
        else:
            with pytest.raises(Forbidden):
                setup.narrowed(NOTHING, access, operation)
