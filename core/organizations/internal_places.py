"""The place of an internal organization: one customer of one service, for which the vendor has made what it holds.

Internal organizations are made in `core/customers/internal_organizations.py`.
"""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from core.lazy_dataclasses import dataclass


class MadeThrough(StrEnum):
    """How a vendor has made something for a customer."""

    MEMBER = "member"
    PROGRAM = "program"
    SETUP_LINK = "setup_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalPlace:
    """The customer record of an internal organization, with the service and both organizations."""

    internal_id: UUID
    customer_id: UUID
    vendor_id: UUID
    vendor_slug: str
    service_id: UUID
    service_slug: str
    service_name: str
    customer_organization_id: UUID
