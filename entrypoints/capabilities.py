"""The capabilities of Gatehouse: all `Routes` that the modules of the areas declare.

A module of routes needs no line here. The reference has the areas in the order in which they are named below.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from core.sign_in.upstream.providers import ExternalProvider
from entrypoints import http, pages
from entrypoints.added_providers import SETTING
from entrypoints.refusals import CannotStart
from entrypoints.web.serving.routes import Route, Routes

# JSON handlers and pages have the same ones; what all pages share stands behind them.
AREAS: Final = (
    "accounts",
    "sign_in",
    "sessions",
    "credentials",
    "organizations",
    "services",
    "customers",
    "saml",
    "service_api",
    "invitations",
    "billing",
    "openid",
    "scim",
    "webhooks",
    "events",
    "audit",
    "mail",
    "privacy",
    "platform",
    "frame",
    "console",
    "manual",
    "downloads",
    "reference",
)


@cache
def for_programs() -> tuple[Routes, ...]:
    """Import the JSON handlers, and return what they declare."""
    return tuple(_declared(http))


@cache
def declared() -> tuple[Routes, ...]:
    """Import the JSON handlers, the pages and what describes them, and return what they declare."""
    from entrypoints.web.describing import openapi  # noqa: PLC0415 - what programs are served with does without

    return (*_declared(http, pages), openapi.routes)


def _declared(*layers: ModuleType) -> Iterator[Routes]:
    """Import every module of the areas, and yield what each declares; a module may name the routes of another one."""
    seen = list[Routes]()
    for area in AREAS:
        for layer in layers:
            folders = [f"{folder}/{area}" for folder in layer.__path__]
            for module in pkgutil.walk_packages(folders, f"{layer.__name__}.{area}."):
                for value in vars(import_module(module.name)).values():
                    if isinstance(value, Routes) and all(value is not one for one in seen):
                        seen.append(value)
                        yield value


# Below it are the ways to sign in, each by its name, and the paths of OAuth.
AUTH: Final = "/auth/"


def is_internal(route: Route) -> bool:
    """Whether a route is for programs of the operator, and moves to GATEHOUSE_METRICS_BIND if that is set."""
    return route.path == "/metrics" or route.path.startswith("/internal/")


def routes(
    *, is_development: bool, has_billing_provider: bool = False, added: Iterable[ExternalProvider] = ()
) -> list[Route]:
    """List every route of Gatehouse, with the routes of the providers that the operator has added.

    Raise `CannotStart` for a provider whose name is a path already.
    """
    # Imported here, because a process alone begins without pages.
    from entrypoints.pages.billing import sandbox  # noqa: PLC0415
    from entrypoints.pages.mail import mailbox  # noqa: PLC0415
    from entrypoints.pages.sign_in.upstream.providers import routes_of  # noqa: PLC0415

    left_out = (*(() if is_development else (mailbox.routes,)), *((sandbox.routes,) if has_billing_provider else ()))
    chosen = [capability for capability in declared() if all(capability is not one for one in left_out)]
    taken = _words_below(AUTH)
    for one in added:
        if one.provider in taken:
            raise CannotStart(
                f"{SETTING} has the table [{one.provider}], and {AUTH}{one.provider} is a path of Gatehouse. Choose"
                " another name for it."
            )
    return [route for capability in (*chosen, *map(routes_of, added)) for route in capability.routes]


def _words_below(path: str) -> set[str]:
    """Return the first words of the paths of all routes below a path."""
    paths = (route.path for capability in declared() for route in capability.routes)
    return {one.removeprefix(path).partition("/")[0] for one in paths if one.startswith(path)}
