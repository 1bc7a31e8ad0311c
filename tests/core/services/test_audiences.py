"""An audience lies under a verified domain of the organization."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.errors import BadRequest
from core.services import management

ORGANIZATION = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


class Domains:
    """The port `VerifiedDomains`, for an organization that has proved one domain."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        return organization_id == ORGANIZATION and host == "api.example.com"


def test_an_audience_elsewhere_is_refused() -> None:
    uow: Any = SimpleNamespace(
        verified_domains=Domains(), services=SimpleNamespace(claim_audiences=lambda _service: None)
    )

    def claim(*audiences: str) -> None:
        service: Any = SimpleNamespace(organization_id=ORGANIZATION, audiences=audiences)
        management._claim_audiences(uow, service)

    claim("https://api.example.com/v1")
    with pytest.raises(BadRequest) as refused:
        claim("https://api.example.com/v1", "https://api.other.example/")
    assert refused.value.details[0].field == "audiences"
