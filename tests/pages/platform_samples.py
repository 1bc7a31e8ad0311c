"""The pages of the platform with sample values: a part of `samples.py`."""

from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.tiers import Tier
from core.platform.console import PlatformStanding
from entrypoints.pages.console.sections import sections_of_platform
from tests.pages.console_samples import CONSOLE
from tests.pages.sample_values import ID, NAME

# Support, for which the sections of platform owners are closed.
PLATFORM: Final[dict[str, Any]] = {
    **CONSOLE,
    "standing": SimpleNamespace(user_id=ID, is_owner=False),
    "sections": sections_of_platform(PlatformStanding(user_id=UUID(ID), is_owner=False)),
}

PLATFORM_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/tiers.html": {
        **PLATFORM,
        "tiers": [
            (
                Tier(
                    id=UUID(ID),
                    name="x" * 50,
                    display_name=NAME,
                    default_max_services=3,
                    default_max_users=None,
                    price_cents=0,
                ),
                10_001,
                "/app/platform/organizations?tier=free",
            )
        ],
    },
}
