"""What an event says about a subscription, as JSON in the column `facts`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.billing.provider_objects import ORG_ID, PLAN_ID, SERVICE_ID, USER_ID, Facts, SubscriptionBinding
from core.services.subscriptions import SubscriptionStatus


def facts_as_json(facts: Facts) -> dict[str, Any]:
    """Return the facts that are known, as JSON."""
    return {
        name: value
        for name, value in {
            "status": facts.status,
            "price_id": facts.price_id,
            "period_end": facts.period_end.isoformat() if facts.period_end is not None else None,
            "metadata": facts.binding.metadata if facts.binding is not None else None,
        }.items()
        if value is not None
    }


def facts_from_json(stored: Mapping[str, Any]) -> Facts:
    """Return facts that were stored."""
    status, period_end, metadata = stored.get("status"), stored.get("period_end"), stored.get("metadata")
    return Facts(
        status=SubscriptionStatus(status) if status is not None else None,
        price_id=stored.get("price_id"),
        period_end=datetime.fromisoformat(period_end) if period_end is not None else None,
        binding=_binding(metadata) if metadata is not None else None,
    )


def _binding(metadata: Mapping[str, str]) -> SubscriptionBinding:
    return SubscriptionBinding(
        organization_id=UUID(metadata[ORG_ID]),
        service_id=UUID(metadata[SERVICE_ID]),
        plan_id=UUID(metadata[PLAN_ID]),
        user_id=UUID(metadata[USER_ID]),
    )
