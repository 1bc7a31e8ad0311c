"""The hosts under which Gatehouse works: the base URL's, and the custom domains of organizations.

A request under a custom domain reaches only the routes that are declared `@on_custom_hosts`, and none of another
organization. A host that is no public name (an address, a name without dots) counts as the base URL's, because probes
and proxies reach Gatehouse under such names.

`issuer_of(call)` is the base URL of the host of a request. `uow.origin.custom_host` is its domain; browser sessions,
unfinished sign-ins and passkeys belong to it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from quart import Response
from werkzeug.exceptions import NotFound as NoSuchRoute

from core.errors import NotFound
from core.hosts import under
from core.organizations.settings import domain
from core.sessions.origins import CustomHost
from entrypoints.settings import Settings
from entrypoints.web.serving.admission.branding import brand_pages
from entrypoints.web.serving.calls import Call

NAME_CHARACTERS_MAX: Final = 253
# Where the pages for people are.
PAGES: Final = "/app/"

Handler = TypeVar("Handler", bound=Callable[..., Any])


class HostUnknown(NotFound):
    """Gatehouse is not served under this host; the answer says nothing more."""

    default_message = "Not found."


class ElsewhereOnly(NotFound):
    """The page exists under the base URL only; the answer leads to it at `location`."""

    default_message = "This page is at another address."

    def __init__(self, location: str) -> None:
        super().__init__()
        self.location = location


def on_custom_hosts(handler: Handler) -> Handler:
    """Serve the route under the custom domains of organizations too; its path then names no other organization."""
    handler.__on_custom_hosts__ = True  # pyright: ignore[reportFunctionMemberAccess] - it travels with the function
    return handler


def works_on_custom_hosts(handler: Callable[..., Any]) -> bool:
    """Return whether a route is served under custom domains."""
    return getattr(handler, "__on_custom_hosts__", False)


async def find_custom_host(call: Call) -> CustomHost | None:
    """Return the custom host of a request, None under the base URL; raise `HostUnknown` under any other name."""
    name = host_name(call.request.headers.get("Host", ""))
    if is_own(name, call.installation.settings):
        return None
    found = await call.read(domain.host, name) if len(name) <= NAME_CHARACTERS_MAX else None
    if found is None:
        raise HostUnknown
    return found


async def enter(call: Call, *, has_pages: bool, works_here: bool) -> None:
    """Load the brand of the pages under the custom host of a request; refuse a route that does not work there."""
    if has_pages:
        await load_brand(call)
    if not works_here:
        if call.request.method in {"GET", "HEAD"} and call.request.path.startswith(PAGES):
            # Registering, a forgotten password, the account: what carries an account's secret is under the base URL.
            raise ElsewhereOnly(on_base_url(call))
        raise NoSuchRoute


async def load_brand(call: Call) -> None:
    """Load the brand for all pages under a custom host, error pages too; nothing under the base URL."""
    if call.custom_host is not None:
        await brand_pages(call, call.custom_host.organization_id)


async def is_served(call: Call, name: str) -> bool:
    """Return whether a name is the host of the base URL or a custom domain in force."""
    name = host_name(name)
    if name == _base_host(call.installation.settings):
        return True
    return len(name) <= NAME_CHARACTERS_MAX and await call.read(domain.host, name) is not None


def issuer_of(call: Call) -> str:
    """Return the base URL for the host of a request: the setting, or the setting with the custom domain as its host.

    It is the issuer and the entity id for flows that begin there. The port comes from the setting, never the request.
    """
    return under(call.host_name, call.installation.settings.base_url)


def origin_of(call: Call) -> str:
    """Return the origin of the pages under the host of a request, as browsers write it."""
    return web_origin(call.custom_host, call.installation.settings)


def web_origin(custom_host: CustomHost | None, settings: Settings) -> str:
    """Return the origin of the pages under a custom host, or under the base URL."""
    return under(custom_host.name if custom_host is not None else None, settings.origin)


def on_base_url(call: Call) -> str:
    """Return the address of the page of a request under the base URL."""
    query = call.request.query_string.decode("ascii", "replace")
    path = quote(call.request.path, safe="/!$&'()*+,;=:@")
    return f"{call.installation.settings.base_url}{path}" + (f"?{query}" if query else "")


def own_names(settings: Settings) -> Collection[str]:
    """Return the names that no organization can claim."""
    return {_base_host(settings), settings.relying_party_id}


def is_own(name: str, settings: Settings) -> bool:
    """Return whether a name of a request is the base URL's, or none of the internet's."""
    return name == _base_host(settings) or "." not in name.strip(".") or _is_address(name)


def host_name(host: str) -> str:
    """Return the name in a Host header in lower case, without its port and without the final dot."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].removesuffix(".")


def plain_not_found() -> Response:
    """Return the answer under an unknown host, which has nothing of Gatehouse in it."""
    return Response("Not found.\n", status=404, content_type="text/plain; charset=utf-8")


def _base_host(settings: Settings) -> str:
    return urlsplit(settings.base_url).hostname or ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
