"""The pages of services with sample values: a part of `samples.py`."""

from collections import defaultdict
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.access import Capability
from core.positions import FoundRows
from core.services.first_sign_ins import FirstSignIn
from core.services.found_services import USERS_COUNTED_MAX, ListedService, ServiceEnding
from core.services.management import Usage
from core.services.redirect_changes import RefusedRedirect
from core.services.services import Service, ServiceType
from entrypoints.pages.openid.id_tokens import shown
from entrypoints.pages.services import snippets
from entrypoints.pages.services.deletion import ServiceDeletionForm
from entrypoints.pages.services.kinds import KINDS, TYPES
from entrypoints.pages.services.management import FIELDS, PROFILES, texts_of
from entrypoints.pages.services.secrets import KEPT
from entrypoints.pages.services.services import NewServiceForm, ServiceSearchQuery
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/services/{LONG_SLUG}"
_REDIRECT_URI: Final = "https://" + "long." * 30 + "example.com/callback?" + "x" * 200
_MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SERVICE: Final = Service(
    id=UUID(ID),
    organization_id=UUID(ID),
    client_id=UUID(ID),
    slug=LONG_SLUG,
    name=NAME,
    service_type=ServiceType.WEB,
    redirect_uris=[_REDIRECT_URI, "http://localhost:8080/callback"],
    post_logout_redirect_uris=[_REDIRECT_URI],
    audiences=["https://api.example.com"],
    codehost_scopes=["repo"],
    jwks={"keys": [{"kty": "EC", "crv": "P-256", "x": "x" * 43, "y": "y" * 43}]},
    created_at=_MOMENT,
    updated_at=_MOMENT,
)
SERVICE: Final[dict[str, Any]] = {
    **CONSOLE,
    "service": _SERVICE,
    "page": _PAGE,
    "lacks_list": None,
    "tabs": [
        (_PAGE, "Connect", None),
        (f"{_PAGE}/options", "Settings", None),
        (f"{_PAGE}/people", "People", Capability.SERVICES_MANAGE),
    ],
}
_REFUSED: Final = RefusedRedirect(redirect_uri="http://" + _REDIRECT_URI.removeprefix("https://"), refused_at=_MOMENT)
_USAGE: Final = Usage(current_services=5, max_services=5, tier=NAME)
_LISTED: Final = ListedService(
    id=UUID(ID),
    slug=LONG_SLUG,
    name=NAME,
    service_type=ServiceType.MOBILE,
    created_at=NOW,
    users=USERS_COUNTED_MAX + 1,
)
_CLAIMS: Final = shown({"sub": ID, "email": "x" * 100 + "@example.com", "amr": ["pwd", "mfa"], "other": NAME, "exp": 1})

SERVICES_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "services/services.html": {
        **CONSOLE,
        "query": ServiceSearchQuery(search=NAME),
        "is_filtered": True,
        "found": FoundRows(found=[_LISTED, _LISTED], total=10_001, next=None),
        "usage": _USAGE,
        "users_max": USERS_COUNTED_MAX,
        "kinds": KINDS,
        "types": TYPES,
        "lacks_creation": Capability.SERVICES_CREATE,
        "page": f"/app/organizations/{LONG_SLUG}/services",
        "first": "/first",
        "next": "/next",
    },
    "services/services_new.html": {
        **CONSOLE,
        "problems": defaultdict(str, {"slug": PROBLEM}),
        "usage": _USAGE,
        "is_full": True,
        "kinds": KINDS,
        "kind": KINDS[2],
        "local_example": snippets.local_redirect_uri(),
        "types": [(one.value, TYPES[one]) for one in KINDS[2].types],
        "form": NewServiceForm(name=NAME, slug=LONG_SLUG, redirect_uri=_REDIRECT_URI),
        "page": f"/app/organizations/{LONG_SLUG}/services",
    },
    "services/connecting.html": {
        "lacks_leading": None,
        **SERVICE,
        "secret": "s" * 43,
        "was_shown": False,
        "typed": _REDIRECT_URI,
        "refused": _REFUSED,
        "types": TYPES,
        "snippets": snippets.of_service(_SERVICE, "https://id.example.com", "s" * 43),
        "placeholder": snippets.SECRET_PLACEHOLDER,
        "local_example": snippets.local_redirect_uri(),
        "endpoints": dict.fromkeys(
            ("issuer", "discovery", "authorize", "token", "userinfo", "jwks"), "https://id.example.com/" + "x" * 100
        ),
        "lacks_change": None,
        "lacks_rotation": Capability.SERVICES_MANAGE,
        "lacks_list": Capability.SERVICES_VIEW,
        "awaits_sign_in": True,
        "first_sign_in": FirstSignIn(signed_in_at=_MOMENT, email="long." * 40 + "@example.com"),
    },
    "services/redirect_uris.html": {**SERVICE, "refused": _REFUSED},
    "services/secrets.html": {
        **SERVICE,
        "service": SimpleNamespace(
            id=ID, name=SERVICE["service"].name, slug="royal", version="now", has_client_secret=True
        ),
        "kept": KEPT,
        "problems": {"keep": PROBLEM},
    },
    "services/management.html": {
        "lacks_leading": None,
        **SERVICE,
        "problems": defaultdict(str, {"jwks": PROBLEM, "audiences": PROBLEM}),
        "typed": dict.fromkeys(FIELDS, NAME),
        "stored": texts_of(_SERVICE),
        "types": [(one.value, text) for one, text in TYPES.items()],
        "profiles": PROFILES,
        "lacks_change": None,
        "lacks_keys": None,
        "lacks_removal": Capability.SERVICES_MANAGE,
    },
    "services/deletion.html": {
        **SERVICE,
        "problems": defaultdict(str, {"slug": PROBLEM}),
        "figures": ServiceEnding(end_users=10_001, sessions=7, api_keys=1, plans=2, subscriptions=3, grants=0),
        "form": ServiceDeletionForm(slug=NAME, note=NAME),
    },
    "openid/trials.html": {**SERVICE, "why_not": "", "lacks_trial": None},
    "openid/trials_result.html": {
        **SERVICE,
        "parts": {"id-token": _CLAIMS, "access-token": _CLAIMS, "userinfo": _CLAIMS},
        "error": "",
        "error_words": "",
    },
}
