"""Which services take workloads, and what is not among theirs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.services import workloads
from core.services.services import ServiceType
from core.services.workloads import WorkloadUnknown
from core.sessions.security_profiles import SecurityProfile


@pytest.mark.parametrize(
    ("service_type", "profile", "takes"),
    [
        (ServiceType.WEB, None, True),
        (ServiceType.API, None, True),
        (ServiceType.MOBILE, None, False),
        (ServiceType.WEB, SecurityProfile.FAPI2, False),
    ],
)
def test_a_service_takes_workloads_that_gets_tokens_for_itself(
    service_type: ServiceType, profile: SecurityProfile | None, takes: bool
) -> None:
    service: Any = SimpleNamespace(service_type=service_type, security_profile=profile)

    assert workloads.takes_workloads(service) is takes


def test_an_unknown_one_is_not_found() -> None:
    with pytest.raises(WorkloadUnknown):
        workloads.found_among([], UUID(int=1))
