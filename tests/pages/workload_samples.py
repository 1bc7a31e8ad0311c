"""The pages of workloads with sample values: a part of `samples.py`."""

from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.access import Capability
from core.services.workload_rules import RefusalReason, RefusedAssertion, Workload
from entrypoints.pages.services.workload_presets import BY_WORD, PRESETS
from entrypoints.pages.services.workload_rules import REASONS, WorkloadForm
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import ID, NAME, NOW, PROBLEM
from tests.pages.service_samples import SERVICE

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/services/{LONG_SLUG}/workloads"
_USED: Final = Workload(
    id=UUID(ID),
    name=NAME,
    issuer="https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E",
    jwks_uri=f"https://keys.example/{'k' * 100}",
    jwks=None,
    audience="a" * 100,
    match={"sub": "s" * 200, "kubernetes.io/serviceaccount/uid": "14ee3fa4", "ref": "*"},
    created_at=NOW,
    last_used_at=NOW,
    last_refused=RefusedAssertion(
        at=NOW,
        reason=RefusalReason.CLAIMS,
        claims={"sub": "x" * 200, "kubernetes.io/serviceaccount/uid": None, "ref": "*"},
    ),
)
_UNUSED: Final = Workload(
    id=UUID(ID),
    name="Nightly backup",
    issuer="https://gitlab.com",
    jwks_uri=None,
    jwks={"keys": []},
    audience=None,
    match={"project_id": "20"},
    created_at=NOW,
    last_refused=RefusedAssertion(at=NOW, reason=RefusalReason.SIGNATURE, claims={}),
)
_LIST: Final[dict[str, Any]] = {
    "workloads": _PAGE,
    "presets": PRESETS,
    "reasons": REASONS,
    "found": [_USED, _UNUSED],
    "lacks_change": Capability.SERVICES_MANAGE,
    "lacks_removal": None,
}
_PRESET: Final = BY_WORD["kubernetes"]
_NEW: Final[dict[str, Any]] = {
    "workloads": _PAGE,
    "presets": PRESETS,
    "preset": _PRESET,
    "form": WorkloadForm(name=NAME, issuer=NAME, audience=NAME, jwks_uri=NAME, jwks=NAME),
    "values": {"sub": NAME},
    "free": [(NAME, NAME), ("", "")],
    "problems": dict.fromkeys(("name", "issuer", "match", "audience", "jwks_uri", "jwks"), PROBLEM),
    "pipeline": _PRESET.program(issuer="https://id.example.com", client_id=ID),
}
_KEY: Final = SimpleNamespace(id=ID, name=NAME)

WORKLOAD_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "services/workloads.html": {**SERVICE, **_LIST, "takes_workloads": True},
    "services/workloads_new.html": {**SERVICE, **_NEW},
    "services/workloads_deletion.html": {**SERVICE, "workloads": _PAGE, "one": _USED},
    "services/key_workloads.html": {**CONSOLE, **_LIST, "key": _KEY, "keys": "/app", "lacks_change": None},
    "services/key_workloads_new.html": {**CONSOLE, **_NEW, "key": _KEY},
    "services/key_workloads_deletion.html": {**CONSOLE, "workloads": _PAGE, "one": _UNUSED, "key": _KEY},
}
