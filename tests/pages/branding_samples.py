"""The pages of the branding with sample values: a part of `samples.py`."""

from collections import defaultdict
from typing import Any, Final
from uuid import UUID

from core.organizations.settings.branding import BrandedOrganization, Branding, BrandingVersion
from core.organizations.settings.branding_versions import BrandingHistory, ListedVersion
from entrypoints.pages.organizations.settings.branding_preview import LABELS
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_SAVED: Final = Branding(
    logo="a.png",
    primary_color="#14544a",
    background_color="#ffffff",
    support_email=EMAIL,
    terms_url="https://harbour.example/" + "terms" * 40,
    updated_at=NOW,
)
_PICTURE: Final = {"address": "data:image/png;base64,AAAA", "is_removed": True}


def _listed(number: int, **details: Any) -> ListedVersion:
    version = BrandingVersion(number=number, branding=_SAVED, is_by_key=number == 1)
    return ListedVersion(version=version, **details)


_HISTORY: Final = BrandingHistory(
    present=BrandedOrganization(organization_id=UUID(ID), name=NAME, branding=_SAVED),
    number=12,
    versions=[
        _listed(12, email=EMAIL, changes=dict.fromkeys(LABELS)),
        _listed(11, email=None, changes={"logo": {}}),
        _listed(1, email=EMAIL, changes=None),
    ],
)

BRANDING_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/settings/branding_preview_refused.html": {
        "text": PROBLEM,
        "page": "/app/organizations/harbour/branding",
        "request_id": "a" * 64,
    },
    "organizations/settings/branding.html": {
        **CONSOLE,
        "history": _HISTORY,
        "saved": _SAVED,
        "typed": {
            "primary_color": NAME,
            "background_color": "#ffffff",
            "support_email": EMAIL,
            "terms_url": NAME,
            "privacy_url": NAME,
        },
        "pictures": [
            {"name": "logo", "sent": "data:image/png;base64,AAAA", **_PICTURE},
            {"name": "icon", "sent": "", **_PICTURE},
        ],
        "changed_meanwhile": True,
        "problems": defaultdict(str, dict.fromkeys(LABELS, PROBLEM)),
        "labels": LABELS,
        "frame": "about:blank",
        "page": f"/app/organizations/{LONG_SLUG}/branding",
    },
}
