"""The pages of the console with sample values: a part of `samples.py`."""

from types import SimpleNamespace
from typing import Any, Final

from core.organizations.access import RequiredStanding
from core.organizations.organizations import OrganizationStatus
from core.organizations.overview import Attention, Overview, SetupSteps, SignInTotals
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

# Longer than every real one, and in one word.
LONG_SLUG: Final = "a" * 50
_ORGANIZATION: Final = SimpleNamespace(
    id=ID,
    name=NAME,
    slug=LONG_SLUG,
    is_active=False,
    status=OrganizationStatus.REJECTED,
    rejection_reason=NAME,
    suspension_reason=None,
)
_ACTIVE: Final = SimpleNamespace(
    id=ID, name="x" * 100, slug=LONG_SLUG, is_active=True, status=OrganizationStatus.ACTIVE
)


def standing(organization: Any = _ACTIVE) -> SimpleNamespace:
    """Return the standing of a reader who lacks everything."""
    return SimpleNamespace(
        organization=organization,
        user_id=ID,
        role=NAME,
        owner_email=EMAIL,
        lacks=lambda _operation: RequiredStanding.OWNER,
    )


CONSOLE: Final[dict[str, Any]] = {
    "form_token": "token",
    "browser": SimpleNamespace(email=EMAIL, is_disowned=False, confined_to=None),
    "standing": standing(),
    "curl": "curl 'https://id.example.com/api/organizations/harbour' \\\n  -H \"Authorization: Bearer $TOKEN\"",
    "outcome": "The organization is created.",
    "problem": PROBLEM,
}

CONSOLE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "console_organizations.html": {
        **CONSOLE,
        "standing": None,
        "mine": SimpleNamespace(
            total=10_001,
            found=[
                SimpleNamespace(organization=_ORGANIZATION, membership=SimpleNamespace(role="owner")),
                SimpleNamespace(organization=_ACTIVE, membership=SimpleNamespace(role=NAME)),
            ],
        ),
        "query": SimpleNamespace(search=NAME, after="b"),
        "first": "/app/organizations",
        "next": "/app/organizations?after=b",
        "form": SimpleNamespace(name=NAME, slug=LONG_SLUG),
        "problems": {"name": "", "slug": PROBLEM},
    },
    "console_overview.html": {
        **CONSOLE,
        "found": Overview(
            steps=SetupSteps(
                has_service=True,
                has_colleague=False,
                has_provider=False,
                has_domain=False,
                has_webhook=True,
                has_second_factor=False,
            ),
            sign_ins=SignInTotals(succeeded=10_001, refused=12),
            attention=Attention(
                domain_failing_since=NOW, mail_failing_since=NOW, siem_failing_since=NOW, failing_webhooks=3
            ),
        ),
    },
}
