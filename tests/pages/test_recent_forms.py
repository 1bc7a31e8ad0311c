"""Forms that ask to sign in again: their pages ask before anything is typed, so that it is not lost."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec
import pytest

from entrypoints import capabilities
from entrypoints.web.input.decoding import kept_fields
from entrypoints.web.serving.routes import Route

ROUTES = capabilities.routes(is_development=True)
PAGES = {route.path: route for route in ROUTES if route.method == "GET"}
# What is typed there comes back in the address of the page, is a code or a name that is typed in a moment, or is what a
# button carries.
KEPT_OTHERWISE = {
    "/app/account/identities/link",
    "/app/account/identities/unlink",
    "/app/account/passkeys/:passkey_id/rename",
    "/app/account/passkeys/new",
    "/app/account/second-factor/enable",
    "/app/second-factor/confirm",
    "/app/passkey",
    "/app/platform/owners",
    "/app/platform/owners/support",
    "/app/second-factor/passkey",
    "/app/second-factor/set-up",
    "/auth/device/approve",
}


def names_in(handler: Any) -> set[str]:
    """Return what the code of a handler calls."""
    return set(inspect.unwrap(handler).__code__.co_names)


def is_typed(route: Route) -> bool:
    """Return whether a person fills in the form, beside what the page has put into it."""
    if route.form is None:
        return False
    names = {field.name for field in msgspec.structs.fields(route.form)} - {"form_token"}
    return any(not name.startswith(("seen", "shown")) for name in names)


def page_of(route: Route) -> Route:
    """Return the page that has the form: the page at its path, or the nearest one above it."""
    path = route.path
    while path not in PAGES:
        path = path.rpartition("/")[0]
    return PAGES[path]


def is_kept_in_address(route: Route) -> bool:
    """Return whether the query of the page takes all that is typed, so that it comes back in its address."""
    query = page_of(route).query
    names = {field.name for field in msgspec.structs.fields(query)} if query is not None else set[str]()
    typed = {field.name for field in msgspec.structs.fields(route.form)} - {"form_token"}
    return typed <= names and typed <= kept_fields(route.form)


FORMS = [
    route
    for route in ROUTES
    if route.method == "POST"
    and ("recent" in names_in(route.handler) or route.asks_to_confirm)
    and route.path not in KEPT_OTHERWISE
]


@pytest.mark.parametrize("route", [one for one in FORMS if is_typed(one)], ids=lambda route: route.path)
def test_the_page_of_a_form_asks_to_sign_in_again_before_it_is_filled_in(route: Route) -> None:
    assert "recent_for_form" in names_in(page_of(route).handler) or is_kept_in_address(route)


def test_there_are_such_forms() -> None:
    assert len(FORMS) > 20
