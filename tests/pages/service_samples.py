"""The pages of one service with sample values: a part of `samples.py`."""

from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.access import Capability, RequiredStanding
from core.positions import FoundRows
from core.services.api_keys import ApiKey, ListedApiKey, Permission
from entrypoints.pages.services.api_keys import EXPIRIES, PERMISSIONS
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/services/{LONG_SLUG}"
SERVICE: Final[dict[str, Any]] = {
    **CONSOLE,
    "service": SimpleNamespace(id=ID, name=NAME, slug=LONG_SLUG),
    "page": _PAGE,
    "tabs": [
        (_PAGE, "Connect", None),
        (f"{_PAGE}/grants", "People", Capability.SERVICES_MANAGE),
        (f"{_PAGE}/plans", "Plans", None),
        (f"{_PAGE}/api-keys", "API keys", None),
        (f"{_PAGE}/saml", "SAML", None),
    ],
}
_KEY: Final = ApiKey(
    id=UUID(ID),
    service_id=UUID(ID),
    name=NAME,
    prefix="sk_abc123",
    permissions=list(Permission),
    last_used_at=NOW,
    expires_at=NOW,
    created_at=NOW,
    created_by=UUID(ID),
)
_LISTED: Final = ListedApiKey(key=_KEY, maker_email=EMAIL)
_KEYS: Final[dict[str, Any]] = {
    **SERVICE,
    "keys": f"{_PAGE}/api-keys",
    "permissions": PERMISSIONS,
    "now": NOW,
    "shown": _LISTED,
    "lacks_change": Capability.SERVICES_MANAGE,
}

SERVICE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "service_keys.html": {
        **_KEYS,
        "query": SimpleNamespace(search=NAME),
        "found": FoundRows(found=[_LISTED, ListedApiKey(key=_KEY, maker_email=None)], total=99, next=None),
        "first": f"{_PAGE}/api-keys",
        "next": f"{_PAGE}/api-keys?after=b",
    },
    "service_key_new.html": {
        **_KEYS,
        "form": SimpleNamespace(name=NAME, permissions=["read:users"], expires="30"),
        "problems": {"name": PROBLEM, "permissions": PROBLEM, "expires": PROBLEM},
        "lacking": {Permission.WRITE_USERS: Capability.END_USERS_MANAGE},
        "expiries": EXPIRIES,
    },
    "service_key.html": {
        **_KEYS,
        "secret": f"sk_abc123_{'k' * 43}",
        "example": f"curl https://id.example.com/api/service/users/$USER_ID \\\n  -H 'X-Api-Key: sk_abc123_{'k' * 43}'",
        "lacks_change": RequiredStanding.OWNER,
    },
    "service_key_revocation.html": _KEYS,
}
