"""The pages of the platform with sample values: a part of `samples.py`."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.tiers import Tier
from core.platform.console import PlatformStanding
from entrypoints.pages.console.sections import sections_of_platform
from tests.pages.console_samples import CONSOLE
from tests.pages.sample_values import ID, NAME, PROBLEM

# Support, for which the sections of platform owners are closed.
PLATFORM: Final[dict[str, Any]] = {
    **CONSOLE,
    "standing": SimpleNamespace(user_id=ID, is_owner=False),
    "sections": sections_of_platform(PlatformStanding(user_id=UUID(ID), is_owner=False)),
}

_TIER: Final = Tier(
    id=UUID(ID), name="x" * 50, display_name=NAME, default_max_services=3, default_max_users=None, price_cents=4_900
)
_OWNING: Final[dict[str, Any]] = {
    **PLATFORM,
    "standing": SimpleNamespace(user_id=ID, is_owner=True),
    "problems": defaultdict(str, {"max_users": PROBLEM, "price": PROBLEM}),
    "form": SimpleNamespace(display_name=NAME, name="gold", max_services="3", max_users="many", price="49.00"),
    "page": "/app/platform/tiers",
    "page_of_all": "/app/platform/tiers",
    "list": "/app/platform/organizations?tier=free",
    "tier": _TIER,
    "price": "49.00",
    "organizations": 0,
}

PLATFORM_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/tiers.html": {
        **_OWNING,
        "tiers": [(_TIER, "49.00", 10_001, "/app/platform/organizations?tier=free")],
    },
    "organizations/tiers_one.html": _OWNING,
    "organizations/tiers_deletion.html": _OWNING,
}
