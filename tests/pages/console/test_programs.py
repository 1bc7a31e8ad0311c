"""The calls of the interface that pages of the console show: each is one of an operation that exists."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from entrypoints import capabilities, pages
from entrypoints.pages.console.page_calls import calls_of_forms
from entrypoints.pages.organizations.keys import READS
from entrypoints.web.serving.paths import paths_of

PATHS = paths_of(tuple(capabilities.routes(is_development=False)))
OPERATIONS = PATHS.operations
# The forms of the consoles that no call of the interface replaces: what they do is a matter of pages.
WITHOUT_CALL = {
    "/app/organizations/:org_slug/billing/sold/:subscription_id",
    "/app/organizations/:org_slug/billing/sold/:subscription_id/cancel",
    "/app/organizations/:org_slug/branding/preview",
    "/app/organizations/:org_slug/jobs/:job_id/stop",
    "/app/organizations/:org_slug/people/personal-data/:user_id/download",
    "/app/organizations/:org_slug/people/personal-data/:user_id/remove",
    "/app/organizations/:org_slug/services/:service_slug/customers/:customer_id/people/:user_id",
    "/app/organizations/:org_slug/services/:service_slug/tryout",
    "/app/platform/jobs/:job_id/stop",
    "/app/platform/users/:user_id/data/anonymize",
    "/app/platform/users/:user_id/data/download",
}
# How many arguments stand before the operation.
_BEFORE = {"Program": 0, "path_in_interface": 1}


def calls() -> Iterable[tuple[str, str, ast.Call, int]]:
    """Generate each call that names an operation, with where it stands and how many arguments stand before the name."""
    [root] = pages.__path__
    for path in sorted(Path(root).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BEFORE:
                before = _BEFORE[node.func.id]
                name = node.args[before]
                if isinstance(name, ast.Constant):
                    yield f"{path.relative_to(root)}:{node.lineno}", str(name.value), node, before


def keys_of(node: ast.Call, name: str) -> set[str]:
    """Return the fields that a call writes down in its query or body."""
    written = next((one.value for one in node.keywords if one.arg == name), None)
    keys = written.keys if isinstance(written, ast.Dict) else []
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def fields_of(shape: Any) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(shape)} if shape is not None else set()


def test_every_call_that_a_page_shows_is_one_of_an_operation_with_the_values_of_its_path_and_its_fields() -> None:
    found = 0
    for where, operation, node, before in calls():
        found += 1
        assert operation in OPERATIONS, f"{where}: no operation is called {operation}"
        route = OPERATIONS[operation]
        assert len(node.args) - before - 1 == len(route.path_parameters), f"{where}: {route.path}"
        assert keys_of(node, "query") <= fields_of(route.query), f"{where}: {route.name}"
        assert keys_of(node, "body") <= fields_of(route.sent), f"{where}: {route.name}"
    assert found > 100


def test_what_a_new_key_may_read_are_operations_of_its_organization() -> None:
    for capability, operation in READS.items():
        assert OPERATIONS[operation].name.startswith("GET /api/organizations/:"), capability


def test_every_form_of_the_consoles_has_its_call() -> None:
    calls = calls_of_forms(PATHS)

    assert {form.path for form, call in calls.items() if call is None} == WITHOUT_CALL
    assert len(calls) > 120
    for form, call in calls.items():
        if call is not None:
            # The call asks for no other operation, except where there are several ways, or a field is the owner's.
            asked = {form.who.operation, call.who.operation}
            ways = ("/selected/change", "/selected/remove", "/products/:client_id/setup")
            assert len(asked) == 1 or form.path.endswith(ways), form.path
            assert call.who.governs_platform == form.who.governs_platform, form.path
