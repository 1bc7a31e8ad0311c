"""The pages of the platform's owners, support and system with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.platform.owners import ListedPlatformOwner
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_OWNER: Final[dict[str, Any]] = {**PLATFORM, "standing": SimpleNamespace(user_id=UUID(ID), is_owner=True)}
_LISTED: Final = ListedPlatformOwner(
    id=UUID(ID),
    email=EMAIL,
    name=NAME,
    email_verified=True,
    mfa_enabled=True,
    is_active=True,
    created_at=NOW,
    appointed_at=None,
)
_UNPROTECTED: Final = replace(
    _LISTED, id=UUID(int=2), name=None, email_verified=False, mfa_enabled=False, is_active=False, appointed_at=NOW
)

SYSTEM_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform_owners.html": {
        **_OWNER,
        "owners": [_LISTED, _UNPROTECTED],
        "support": [_UNPROTECTED],
        "typed_owner": EMAIL,
        "typed_support": "",
        "owner_problem": PROBLEM,
        "support_problem": "",
    },
    "platform_demotion.html": {
        **_OWNER,
        "person": _UNPROTECTED,
        "remaining": 2,
        "reason": NAME,
        "page": f"/app/platform/owners/{ID}/demote",
    },
}
