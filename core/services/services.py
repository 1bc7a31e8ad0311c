"""Services, the applications of an organization."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class ServiceType(StrEnum):
    """A kind of application; `web` and `api` can keep a secret (operations 2.1)."""

    WEB = "web"
    API = "api"
    MOBILE = "mobile"
    DESKTOP = "desktop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """An application that users sign in to."""

    id: UUID
    organization_id: UUID
    slug: str
    name: str
    service_type: ServiceType
    client_id: UUID
    redirect_uris: list[str]
    created_at: datetime
