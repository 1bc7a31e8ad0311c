"""Who may call a route: one decorator for each kind of caller, which reads as the route's policy.

A decorator declares *who* the caller must be; the use case decides in its transaction what the caller may do. What a
request proves its caller by is looked up in `admitting.py`. A route without a decorator stops Gatehouse from starting,
so a forgotten one cannot expose a route.

A route in an organization names its operation, and its use case begins by authorizing the caller for the same one:

    @routes.get("/api/organizations/:org_slug/widgets")
    @in_organization(Operation.WIDGETS_LIST)
    async def list_widgets(call: Call, org_slug: str, query: Paged) -> WidgetsPage:
        \"\"\"List the organization's widgets.\"\"\"
        return await call.read(widgets.list_page, org_slug, page=query.page, limit=query.limit)


    def list_page(uow: UnitOfWork, slug: str, *, page: int, limit: int) -> WidgetsPage:
        \"\"\"Return one page of widgets, newest first.\"\"\"
        organization = authorize(uow, slug, Operation.WIDGETS_LIST).organization

A key of the organization acts for its maker there: `authorized.caller` is the maker, `caller.key_id` the key; entries
and events have no actor and name the key. The backend of a service is `uow.service_caller`, a directory is
`uow.scim_caller`: entries have no actor, and their details name the key or the token.

The cookie of a browser session opens pages alone, and the GETs that are `signed_in_or_browser` or `in_organization(…,
or_browser=True)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

from werkzeug.exceptions import NotFound as NoSuchRoute

from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_platform, authorize_support
from core.scim import tokens as scim_tokens
from core.services import api_keys, service_access
from core.services.api_keys import Permission
from core.sessions import callers
from core.sessions.origins import CustomHost
from entrypoints.web.serving.admission import admitting
from entrypoints.web.serving.admission.access_policies import (
    AccessCheck,
    AccessPolicy,
    Admission,
    CredentialKind,
    RefusalObserver,
)
from entrypoints.web.serving.admission.admitting import or_key
from entrypoints.web.serving.calls import Call

Handler = TypeVar("Handler", bound=Callable[..., Any])

# The names of the path parameters of the organization and of the service.
SLUG_PARAMETERS: Final = ("org_slug", "slug")
SERVICE_PARAMETER: Final = "service_slug"


class Declaration(Protocol):
    """A decorator that declares who may call a handler."""

    def __call__(self, handler: Handler, /) -> Handler: ...


def public(handler: Handler) -> Handler:
    """Let every caller in, with or without a credential."""
    return _open()(handler)


def presenting_client(when_refused: RefusalObserver) -> Declaration:
    """Let every caller in, as a client of OAuth, which the handler reads; refusals are observed."""
    return _open(when_refused=when_refused)


def holding_setup_link(handler: Handler) -> Handler:
    """Let every browser in, as the holder of the setup link whose cookie it has.

    The use case decides it with `access.authorize`; without a valid cookie it raises `SetupLinkDead`.
    """
    return _open(admitting.admit_setup_visit)(handler)


def signed_in(handler: Handler) -> Handler:
    """Require a valid access token."""
    return _by_token()(handler)


def signed_in_or_in_form(handler: Handler) -> Handler:
    """Require a valid access token, in the header or in the form of a POST."""
    return _by_token(admitting.admit_access_token_or_form)(handler)


def in_browser(handler: Handler) -> Handler:
    """Require a browser session: `call.browser`; without one the answer leads to the sign-in and back."""
    return _by_browser()(handler)


def in_browser_in_person(handler: Handler) -> Handler:
    """Require a browser session as `in_browser` does; a platform owner who acts as its user is refused."""
    return _by_browser(is_in_person=True)(handler)


def in_own_browser(handler: Handler) -> Handler:
    """Require a browser session; `call.browser` is the browser's own session, also while it acts as another user."""
    return _by_browser(admitting.admit_own_browser)(handler)


def in_browser_or_not(handler: Handler) -> Handler:
    """Let every browser in; `call.browser` is its session, or None."""
    return _open(admitting.admit_every_browser, has_protected_forms=True)(handler)


def signed_in_or_browser(handler: Handler) -> Handler:
    """Require a valid access token, or without an `Authorization` header a browser session; only for a GET."""
    return _by_token(admitting.admit_access_token_or_browser, takes_browser=True)(handler)


def in_person(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session."""
    return _by_token(before_refusing=_raised_by(callers.require_in_person), is_in_person=True)(handler)


def account_wide(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session, and a service's token.

    The token of a service is not refused while the account belongs to the organization of the service alone.
    """
    check = _raised_by(callers.require_whole_account)
    return _by_token(before_refusing=check, is_in_person=True, is_account_wide=True)(handler)


def in_organization(operation: Operation, *, or_browser: bool = False) -> Declaration:
    """Require an access token whose user may do this in the organization of the path, or a key of the organization.

    The use case decides it with `access.authorize`. With `or_browser`, a browser session will do, as for
    `signed_in_or_browser`.
    """
    admit = admitting.admit_access_token_or_browser if or_browser else admitting.admit_access_token
    check = _requiring(operation)
    return _by_token(or_key(admit), before_refusing=check, operation=operation, takes_browser=or_browser)


def in_console(operation: Operation) -> Declaration:
    """Require a browser session whose user may do this in the organization of the path; for a page of the console.

    The use case decides it with `access.authorize`, as for `in_organization`; `standing.read` does both.
    """
    return _by_browser(before_refusing=_requiring(operation), operation=operation)


def on_service(operation: Operation, *, or_support: bool = False) -> Declaration:
    """Require an access token whose user may do this to the service of the path, by their role or by a grant.

    A key of the organization will do as well, as for `in_organization`.
    The use case decides it with `authorize` of `core.services.service_access`, with `or_support` by `authorize_reader`.
    """
    return _by_token(
        or_key(admitting.admit_access_token),
        before_refusing=_requiring_reader(operation) if or_support else _requiring_on_service(operation),
        operation=operation,
        is_on_service=True,
        is_read_by_support=or_support,
    )


def on_service_in_console(operation: Operation) -> Declaration:
    """Require a browser session whose user may do this to the service of the path; for a page of the console.

    `core.services.standing.read` authorizes the reader and runs the use case of the page.
    """
    return _by_browser(before_refusing=_requiring_on_service(operation), operation=operation, is_on_service=True)


def platform_owner(handler: Handler) -> Handler:
    """Require an access token of a platform owner; the use case decides it with `access.authorize_platform`."""
    return _by_token(before_refusing=_raised_by(authorize_platform), governs_platform=True)(handler)


def platform_support(handler: Handler) -> Handler:
    """Require an access token of a platform owner or of the platform's support.

    The use case decides it with `access.authorize_support`.
    """
    check = _raised_by(authorize_support)
    return _by_token(before_refusing=check, governs_platform=True, helps_users=True)(handler)


def platform_owner_in_console(handler: Handler) -> Handler:
    """Require a browser session of a platform owner, as for `platform_owner`; for a page of the console."""
    return _by_browser(before_refusing=_raised_by(authorize_platform), governs_platform=True)(handler)


def platform_support_in_console(handler: Handler) -> Handler:
    """Require a browser session as for `platform_support`; for a page of the console.

    `core.platform.console.read` authorizes the reader and runs the use case of the page.
    """
    check = _raised_by(authorize_support)
    return _by_browser(before_refusing=check, governs_platform=True, helps_users=True)(handler)


def service_key(permission: Permission) -> Declaration:
    """Require an API key with this permission; the use case decides it with `api_keys.authorize`."""
    return _declaring(
        CredentialKind.API_KEY,
        admitting.admit_api_key,
        before_refusing=_raised_by(api_keys.authorize, permission),
        permission=permission,
    )


def scim_token(when_refused: RefusalObserver) -> Declaration:
    """Require a SCIM token; the use case decides with `tokens.authorize`, and refusals are observed."""
    return _declaring(
        CredentialKind.SCIM_TOKEN,
        admitting.admit_scim_token,
        before_refusing=require_scim_token,
        when_refused=when_refused,
    )


def awaiting_second_factor(handler: Handler) -> Handler:
    """Require a pre-auth token; the handler reads it from the body when it is not in the header."""
    return _declaring(CredentialKind.PRE_AUTH_TOKEN, admitting.admit_pre_auth_bearer)(handler)


def signed_by_provider(body: Any) -> Declaration:
    """Require a signature header of the payment provider; the handler verifies it over the body of this type."""
    return _declaring(CredentialKind.SIGNATURE, admitting.admit_signature, signed_body=body)


def signed_by_connection(body: Any) -> Declaration:
    """Require a token in the header; the handler verifies it by the keys of a connection, then reads the body."""
    return _declaring(CredentialKind.PROVIDER_TOKEN, admitting.admit_provider_token, signed_body=body)


def declared_policy(handler: Callable[..., Any]) -> AccessPolicy | None:
    """Return what was declared for a handler, or None."""
    return getattr(handler, "__who__", None)


def require_own_organization(words: Mapping[str, str], host: CustomHost | None) -> None:
    """Refuse a path that names another organization than the custom host does."""
    named = {words[name] for name in SLUG_PARAMETERS if name in words}
    if host is not None and named - {host.organization_slug}:
        raise NoSuchRoute


def _slug(words: Mapping[str, str]) -> str:
    return words[next(name for name in SLUG_PARAMETERS if name in words)]


async def require_scim_token(call: Call, _words: Mapping[str, str]) -> None:
    """Raise `ScimTokenInvalid` unless the token belongs to an organization; long work then counts for it."""
    caller = await call.step(scim_tokens.authorize)
    call.sender = caller.organization_id


def _requiring(operation: Operation) -> AccessCheck:
    """Return the check that a caller may do this in the organization of the path."""

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        authorized = await call.read(authorize, _slug(words), operation)
        call.sender = authorized.organization.id

    return require_operation


def _requiring_on_service(operation: Operation) -> AccessCheck:
    """Return the check that a caller may do this to the service of the path."""

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        authorized = await call.read(service_access.authorize, _slug(words), words[SERVICE_PARAMETER], operation)
        call.sender = authorized.organization.id

    return require_operation


def _requiring_reader(operation: Operation) -> AccessCheck:
    """Return the check that a caller may read this of the service of the path, or is the platform's support."""

    async def require_reader(call: Call, words: Mapping[str, str]) -> None:
        await call.read(service_access.authorize_reader, _slug(words), words[SERVICE_PARAMETER], operation)

    return require_reader


def _raised_by(use_case: Callable[..., Any], *arguments: object) -> AccessCheck:
    """Return the check that raises what a use case raises, which takes nothing of the path."""

    async def check(call: Call, _words: Mapping[str, str]) -> None:
        await call.read(use_case, *arguments)

    return check


_require_live_session: Final = _raised_by(callers.require_caller)


def _open(admit: Admission = admitting.admit_every_caller, **policy: Any) -> Declaration:
    return _declaring(CredentialKind.NONE, admit, **policy)


def _by_token(
    admit: Admission = admitting.admit_access_token,
    *,
    before_refusing: AccessCheck = _require_live_session,
    **policy: Any,
) -> Declaration:
    return _declaring(CredentialKind.ACCESS_TOKEN, admit, before_refusing=before_refusing, **policy)


def _by_browser(admit: Admission = admitting.admit_browser, **policy: Any) -> Declaration:
    return _declaring(CredentialKind.BROWSER_SESSION, admit, has_protected_forms=True, **policy)


def _declaring(kind: CredentialKind, admit: Admission, **policy: Any) -> Declaration:
    """Return the decorator that declares this policy for a handler."""

    def declare(handler: Handler) -> Handler:
        assert declared_policy(handler) is None, f"{handler.__name__} has two declarations of who may call it"
        # It travels with the function.
        handler.__who__ = AccessPolicy(kind=kind, admit=admit, **policy)  # pyright: ignore[reportFunctionMemberAccess]
        return handler

    return declare
