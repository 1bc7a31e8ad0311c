"""Who may call a route: one decorator for each kind of caller, which reads as the route's policy.

A decorator declares *who* the caller must be; the use case decides in its transaction what the caller may do. A route
without a decorator stops Gatehouse from starting, so a forgotten one cannot expose a route.

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

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from werkzeug.exceptions import NotFound as NoSuchRoute

from core.organizations import access
from core.organizations.access import Operation
from core.scim import tokens as scim_tokens
from core.services import access as service_access
from core.services import api_keys
from core.services.api_keys import Permission
from core.sessions import callers
from core.sessions.origins import CustomHost
from entrypoints.web.serving.admission import admitting
from entrypoints.web.serving.admission.access_policies import AccessPolicy, CredentialKind, RefusalObserver
from entrypoints.web.serving.admission.admitting import or_key
from entrypoints.web.serving.calls import Call

Handler = TypeVar("Handler", bound=Callable[..., Any])
# The names of the path parameters of the organization and of the service.
SLUG_PARAMETERS: Final = ("org_slug", "slug")
SERVICE_PARAMETER: Final = "service_slug"


def public(handler: Handler) -> Handler:
    """Let every caller in, with or without a credential."""
    return _declared(handler, AccessPolicy(kind=CredentialKind.NONE, admit=admitting.admit_every_caller))


def presenting_client(when_refused: RefusalObserver) -> Callable[[Handler], Handler]:
    """Let every caller in, as a client of OAuth, which the handler reads; refusals are observed."""

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(kind=CredentialKind.NONE, admit=admitting.admit_every_caller, when_refused=when_refused),
        )

    return declare


def holding_setup_link(handler: Handler) -> Handler:
    """Let every browser in, as the holder of the setup link whose cookie it has.

    The use case decides it with `access.authorize`; without a valid cookie it raises `SetupLinkDead`.
    """
    return _declared(handler, AccessPolicy(kind=CredentialKind.NONE, admit=admitting.admit_setup_visit))


def signed_in(handler: Handler) -> Handler:
    """Require a valid access token."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN, admit=admitting.admit_access_token, before_refusing=_require_live_session
        ),
    )


def signed_in_or_in_form(handler: Handler) -> Handler:
    """Require a valid access token, in the header or in the form of a POST."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=admitting.admit_access_token_or_form,
            before_refusing=_require_live_session,
        ),
    )


def in_browser(handler: Handler) -> Handler:
    """Require a browser session: `call.browser`; without one the answer leads to the sign-in and back."""
    return _declared(
        handler,
        AccessPolicy(kind=CredentialKind.BROWSER_SESSION, admit=admitting.admit_browser, has_protected_forms=True),
    )


def in_browser_in_person(handler: Handler) -> Handler:
    """Require a browser session as `in_browser` does; a platform owner who acts as its user is refused."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.BROWSER_SESSION,
            admit=admitting.admit_browser,
            is_in_person=True,
            has_protected_forms=True,
        ),
    )


def in_own_browser(handler: Handler) -> Handler:
    """Require a browser session; `call.browser` is the browser's own session, also while it acts as another user."""
    return _declared(
        handler,
        AccessPolicy(kind=CredentialKind.BROWSER_SESSION, admit=admitting.admit_own_browser, has_protected_forms=True),
    )


def in_browser_or_not(handler: Handler) -> Handler:
    """Let every browser in; `call.browser` is its session, or None."""
    return _declared(
        handler, AccessPolicy(kind=CredentialKind.NONE, admit=admitting.admit_every_browser, has_protected_forms=True)
    )


def signed_in_or_browser(handler: Handler) -> Handler:
    """Require a valid access token, or without an `Authorization` header a browser session; only for a GET."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=admitting.admit_access_token_or_browser,
            before_refusing=_require_live_session,
            takes_browser=True,
        ),
    )


def in_person(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session."""
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=admitting.admit_access_token,
            before_refusing=_require_person,
            is_in_person=True,
        ),
    )


def account_wide(handler: Handler) -> Handler:
    """Require a valid access token; the use case refuses an impersonated session, and a service's token.

    The token of a service is not refused while the account belongs to the organization of the service alone.
    """
    return _declared(
        handler,
        AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=admitting.admit_access_token,
            before_refusing=_require_whole_account,
            is_in_person=True,
            is_account_wide=True,
        ),
    )


def in_organization(operation: Operation, *, or_browser: bool = False) -> Callable[[Handler], Handler]:
    """Require an access token whose user may do this in the organization of the path, or a key of the organization.

    The use case decides it with `access.authorize`. With `or_browser`, a browser session will do, as for
    `signed_in_or_browser`.
    """

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.ACCESS_TOKEN,
                admit=or_key(admitting.admit_access_token_or_browser if or_browser else admitting.admit_access_token),
                before_refusing=_requiring(operation),
                operation=operation,
                takes_browser=or_browser,
            ),
        )

    return declare


def in_console(operation: Operation) -> Callable[[Handler], Handler]:
    """Require a browser session whose user may do this in the organization of the path; for a page of the console.

    The use case decides it with `access.authorize`, as for `in_organization`; `standing.read` does both.
    """

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.BROWSER_SESSION,
                admit=admitting.admit_browser,
                before_refusing=_requiring(operation),
                operation=operation,
                has_protected_forms=True,
            ),
        )

    return declare


def on_service(operation: Operation, *, or_support: bool = False) -> Callable[[Handler], Handler]:
    """Require an access token whose user may do this to the service of the path, by their role or by a grant.

    A key of the organization will do as well, as for `in_organization`.
    The use case decides it with `authorize` of `core.services.access`, with `or_support` by `authorize_reader` there.
    """

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.ACCESS_TOKEN,
                admit=or_key(admitting.admit_access_token),
                before_refusing=_requiring_reader(operation) if or_support else _requiring_on_service(operation),
                operation=operation,
                is_on_service=True,
                is_read_by_support=or_support,
            ),
        )

    return declare


def on_service_in_console(operation: Operation) -> Callable[[Handler], Handler]:
    """Require a browser session whose user may do this to the service of the path; for a page of the console.

    `core.services.standing.read` authorizes the reader and runs the use case of the page.
    """

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.BROWSER_SESSION,
                admit=admitting.admit_browser,
                before_refusing=_requiring_on_service(operation),
                operation=operation,
                is_on_service=True,
                has_protected_forms=True,
            ),
        )

    return declare


def platform_owner(handler: Handler) -> Handler:
    """Require an access token of a platform owner; the use case decides it with `access.authorize_platform`."""
    return _declared(handler, _governing(CredentialKind.ACCESS_TOKEN, helps_users=False))


def platform_support(handler: Handler) -> Handler:
    """Require an access token of a platform owner or of the platform's support.

    The use case decides it with `access.authorize_support`.
    """
    return _declared(handler, _governing(CredentialKind.ACCESS_TOKEN, helps_users=True))


def platform_owner_in_console(handler: Handler) -> Handler:
    """Require a browser session of a platform owner, as for `platform_owner`; for a page of the console."""
    return _declared(handler, _governing(CredentialKind.BROWSER_SESSION, helps_users=False))


def platform_support_in_console(handler: Handler) -> Handler:
    """Require a browser session as for `platform_support`; for a page of the console.

    `core.platform.console.read` authorizes the reader and runs the use case of the page.
    """
    return _declared(handler, _governing(CredentialKind.BROWSER_SESSION, helps_users=True))


def service_key(permission: Permission) -> Callable[[Handler], Handler]:
    """Require an API key with this permission; the use case decides it with `api_keys.authorize`."""

    async def require_permission(call: Call, _words: Mapping[str, str]) -> None:
        await call.read(api_keys.authorize, permission)

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.API_KEY,
                admit=admitting.admit_api_key,
                before_refusing=require_permission,
                permission=permission,
            ),
        )

    return declare


def scim_token(when_refused: RefusalObserver) -> Callable[[Handler], Handler]:
    """Require a SCIM token; the use case decides with `tokens.authorize`, and refusals are observed."""

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(
                kind=CredentialKind.SCIM_TOKEN,
                admit=admitting.admit_scim_token,
                before_refusing=require_scim_token,
                when_refused=when_refused,
            ),
        )

    return declare


def awaiting_second_factor(handler: Handler) -> Handler:
    """Require a pre-auth token; the handler reads it from the body when it is not in the header."""
    return _declared(handler, AccessPolicy(kind=CredentialKind.PRE_AUTH_TOKEN, admit=admitting.admit_pre_auth_bearer))


def signed_by_provider(body: Any) -> Callable[[Handler], Handler]:
    """Require a signature header of the payment provider; the handler verifies it over the body of this type."""

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler, AccessPolicy(kind=CredentialKind.SIGNATURE, admit=admitting.admit_signature, signed_body=body)
        )

    return declare


def signed_by_connection(body: Any) -> Callable[[Handler], Handler]:
    """Require a token in the header; the handler verifies it by the keys of a connection, then reads the body."""

    def declare(handler: Handler) -> Handler:
        return _declared(
            handler,
            AccessPolicy(kind=CredentialKind.PROVIDER_TOKEN, admit=admitting.admit_provider_token, signed_body=body),
        )

    return declare


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


def _requiring(operation: Operation) -> Callable[[Call, Mapping[str, str]], Awaitable[None]]:
    """Return the check that a caller may do this in the organization of the path."""

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        authorized = await call.read(access.authorize, _slug(words), operation)
        call.sender = authorized.organization.id

    return require_operation


def _requiring_on_service(operation: Operation) -> Callable[[Call, Mapping[str, str]], Awaitable[None]]:
    """Return the check that a caller may do this to the service of the path."""

    async def require_operation(call: Call, words: Mapping[str, str]) -> None:
        authorized = await call.read(service_access.authorize, _slug(words), words[SERVICE_PARAMETER], operation)
        call.sender = authorized.organization.id

    return require_operation


def _requiring_reader(operation: Operation) -> Callable[[Call, Mapping[str, str]], Awaitable[None]]:
    """Return the check that a caller may read this of the service of the path, or is the platform's support."""

    async def require_reader(call: Call, words: Mapping[str, str]) -> None:
        await call.read(service_access.authorize_reader, _slug(words), words[SERVICE_PARAMETER], operation)

    return require_reader


def _governing(kind: CredentialKind, *, helps_users: bool) -> AccessPolicy:
    """Return the policy of what platform owners do, and with `helps_users` the platform's support as well."""
    is_in_browser = kind is CredentialKind.BROWSER_SESSION
    return AccessPolicy(
        kind=kind,
        admit=admitting.admit_browser if is_in_browser else admitting.admit_access_token,
        before_refusing=_require_platform_support if helps_users else _require_platform_owner,
        governs_platform=True,
        helps_users=helps_users,
        has_protected_forms=is_in_browser,
    )


async def _require_platform_owner(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(access.authorize_platform)


async def _require_platform_support(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(access.authorize_support)


async def _require_person(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_in_person)


async def _require_whole_account(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_whole_account)


async def _require_live_session(call: Call, _words: Mapping[str, str]) -> None:
    await call.read(callers.require_caller)


def _declared(handler: Handler, who: AccessPolicy) -> Handler:
    assert declared_policy(handler) is None, f"{handler.__name__} has two declarations of who may call it"
    handler.__who__ = who  # pyright: ignore[reportFunctionMemberAccess] - the declaration travels with the function
    return handler
