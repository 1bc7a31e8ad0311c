"""The pages of the people of an organization with sample values: a part of `samples.py`."""

from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.privacy.anonymization import DataRemoval
from core.privacy.export import ExportedPerson
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/people"

PEOPLE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "console_data_removal.html": {
        **CONSOLE,
        "removal": DataRemoval(
            email=EMAIL, sessions=214, services=3, subscriptions=1, invitations=7, keys=1, organizations=2
        ),
        "form": SimpleNamespace(email=EMAIL, note=NAME),
        "page": f"{_PAGE}/personal-data/{ID}/remove",
        "back": f"{_PAGE}/personal-data/{ID}",
    },
    "console_personal_data.html": {
        **CONSOLE,
        "person": ExportedPerson(id=UUID(ID), email=EMAIL, is_member=True),
        "page": f"{_PAGE}/personal-data/{ID}",
        "back": f"{_PAGE}/{ID}",
    },
}
