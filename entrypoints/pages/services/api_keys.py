"""The tab of a service with its API keys: the list, creating one, whose secret is shown once, and revoking one."""

import shlex
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import api_keys
from core.services.api_keys import ApiKeyUnknown, ListedApiKey, Permission, PermissionBeyondMaker, TooManyKeys
from core.services.services import ServiceUnknown
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import PagedQuery, Program, after, route_of
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.answering.answers import encode
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes, path_with

routes: Routes = console_pages()

KEYS: Final = "/app/organizations/:org_slug/services/:service_slug/api-keys"
KEY: Final = f"{KEYS}/:api_key_id"
TAB: Final = "/api-keys"
# What each permission is called, and what it allows.
PERMISSIONS: Final = {
    Permission.READ_USERS: (marked("Read users"), marked("Lists the people who use the service, and reads one.")),
    Permission.WRITE_USERS: (
        marked("Add and change users"),
        marked("Adds people by their address, and changes the address of accounts that are yours alone."),
    ),
    Permission.DELETE_USERS: (
        marked("Remove users"),
        marked("Removes people from the service, with their sessions and subscriptions there."),
    ),
    Permission.READ_SUBSCRIPTIONS: (marked("Read subscriptions"), marked("Lists who has which plan, and until when.")),
    Permission.WRITE_SUBSCRIPTIONS: (
        marked("Change subscriptions"),
        marked("Gives people a plan or another one, and starts their checkout."),
    ),
    Permission.DELETE_SUBSCRIPTIONS: (
        marked("Delete subscriptions"),
        marked("Takes the plan of a person away, and forgets earlier ones."),
    ),
    Permission.READ_ANALYTICS: (
        marked("Read figures"),
        marked("Reads how many people use the service, how often they sign in, and how many pay."),
    ),
    Permission.READ_SERVICE: (marked("Read the service"), marked("Reads the settings of the service itself.")),
    Permission.WRITE_SERVICE: (
        marked("Change the service"),
        marked("Changes the settings of the service, the addresses that sign-ins lead back to among them."),
    ),
    Permission.READ_CUSTOMERS: (
        marked("Read customers"),
        marked("Lists the customers of the service, and their people who have signed in or may."),
    ),
    Permission.WRITE_CUSTOMERS: (
        marked("Change customers"),
        marked("Offers the service to organizations, pauses and ends customers, and gives their people roles."),
    ),
    Permission.SETUP_CUSTOMERS: (
        marked("Set customers up"),
        marked("Makes sign-in, mail domains and directories for customers, with setup links too, and reads customers."),
    ),
}
# After how many days a key expires; "" for never.
EXPIRIES: Final = (
    ("30", marked("After 30 days")),
    ("90", marked("After 90 days")),
    ("365", marked("After one year")),
    ("730", marked("After two years")),
    ("", marked("Never")),
)
# The call that tries a new key, by the first of its permissions here; reading ones come first. The name in it is the
# service's own, so that nothing changes.
_EXAMPLES: Final = {
    Permission.READ_SERVICE: Program("service_info_read_info"),
    Permission.READ_USERS: Program("service_users_list_users"),
    Permission.READ_SUBSCRIPTIONS: Program("service_subscriptions_list_subscriptions"),
    Permission.READ_ANALYTICS: Program("service_analytics_read_analytics"),
    Permission.READ_CUSTOMERS: Program("service_customers_list_customers"),
    Permission.WRITE_USERS: Program("service_users_add_user", body={"email": "ann@example.com"}),
    Permission.WRITE_SERVICE: Program("service_info_change_info", body={"name": None}),
    Permission.WRITE_SUBSCRIPTIONS: Program(
        "service_subscriptions_create_subscription", body={"user_id": "$USER_ID", "plan_id": "$PLAN_ID"}
    ),
    Permission.WRITE_CUSTOMERS: Program("service_customers_offer_service", body={"organization": "globex"}),
    Permission.SETUP_CUSTOMERS: Program("service_customers_list_customers"),
    Permission.DELETE_SUBSCRIPTIONS: Program("service_subscriptions_delete_subscription", "$USER_ID"),
    Permission.DELETE_USERS: Program("service_users_remove_user", "$USER_ID"),
}


class ApiKeysQuery(PagedQuery, kw_only=True):
    """Which keys to show."""

    search: Annotated[str, msgspec.Meta(description="A part of the name or of the prefix.", max_length=100)] = ""


FOUND: Final = ConsoleList[ListedApiKey](path=KEYS, called="keys")


class NewKeyForm(ProtectedForm, kw_only=True):
    """What a new key is for, what it allows, and when it expires."""

    name: str = ""
    permissions: list[str] = msgspec.field(default_factory=list[str])
    expires: str = "365"


@routes.get(KEYS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.API_KEYS_READ)
async def show_service_keys(
    call: Call, org_slug: str, service_slug: str, *, query: ApiKeysQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the API keys of a service, the newest first, also those that have expired."""
    query = query or ApiKeysQuery()
    at, found = await opened_service(
        call, org_slug, service_slug, Operation.API_KEYS_READ, api_keys.search, **query.rows
    )
    return service_page(
        call,
        "services/api_keys.html",
        at,
        program=Program("API_keys_list_api_keys", org_slug, service_slug),
        done=query.done,
        refusal=refusal,
        **FOUND.values(query, found, org_slug, service_slug),
        permissions=PERMISSIONS,
        now=call.installation.clock(),
        lacks_change=at.lacks(Operation.API_KEY_CREATE),
    )


async def _new(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    form: NewKeyForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    at, _ = await opened_service(call, org_slug, service_slug, Operation.API_KEY_CREATE, api_keys.require_creatable)
    form = form or NewKeyForm()
    return service_page(
        call,
        "services/api_keys_new.html",
        at,
        program=Program(
            "API_keys_create_api_key",
            org_slug,
            service_slug,
            body={"name": form.name or "Backend", "permissions": form.permissions or ["read:users"]},
        ),
        refusal=refusal,
        form=form,
        permissions=PERMISSIONS,
        lacking=api_keys.lacking(at.reader.capabilities),
        expiries=EXPIRIES,
        keys=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.get(f"{KEYS}/new", refuses=(ServiceUnknown,))
@on_service_in_console(Operation.API_KEY_CREATE)
async def ask_for_key(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show the form of a new API key, with what each permission allows."""
    shown = await _new(call, org_slug, service_slug)
    await recent_for_form(call)
    return shown


@routes.post(f"{KEYS}/new", makes_secret=True, refuses=(ServiceUnknown, TooManyKeys, PermissionBeyondMaker))
@on_service_in_console(Operation.API_KEY_CREATE)
@shows_again(_new, BadRequest, PermissionBeyondMaker)
async def create_key(call: Call, org_slug: str, service_slug: str, form: NewKeyForm) -> PageOrRedirect:
    """Create an API key and lead to its secret; programs use `POST …/services/:service_slug/api-keys`."""
    await call.read(api_keys.require_creatable, org_slug, service_slug)
    if form.expires not in dict(EXPIRIES):
        raise BadRequest.of_field("expires", "Choose one of these.")
    keys = page_of_service(org_slug, service_slug) + TAB
    return await leading_to(
        call,
        lambda uow: api_keys.create(
            uow,
            org_slug,
            service_slug,
            name=form.name,
            permissions=[Permission(one) for one in form.permissions if one in set(Permission)],
            expires_in_days=int(form.expires) if form.expires else None,
        ),
        lambda created: ToShow(page=f"{keys}/{created[0].id}", secrets=(created[1],)),
    )


@routes.get(KEY, refuses=(ServiceUnknown, ApiKeyUnknown))
@on_service_in_console(Operation.API_KEYS_READ)
async def show_key(
    call: Call, org_slug: str, service_slug: str, api_key_id: UUID, *, shown_id: UUID | None = None
) -> Page:
    """Show an API key, without its secret."""
    at, shown = await opened_service(
        call, org_slug, service_slug, Operation.API_KEYS_READ, api_keys.show_made, api_key_id
    )
    secret = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    return service_page(
        call,
        "services/api_keys_one.html",
        at,
        program=Program("API_keys_show_api_key", org_slug, service_slug, api_key_id),
        shown=shown,
        secret=secret,
        was_shown=shown_id is not None and not secret,
        example=_example(call, at.service.name, shown, secret) if secret else "",
        permissions=PERMISSIONS,
        now=call.installation.clock(),
        lacks_change=at.lacks(Operation.API_KEYS_CHANGE),
        keys=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.get(f"{KEY}/shown/:shown_id", shows_secret=True, refuses=(ServiceUnknown, ApiKeyUnknown))
@on_service_in_console(Operation.API_KEY_CREATE)
async def show_new_api_key(call: Call, org_slug: str, service_slug: str, api_key_id: UUID, shown_id: UUID) -> Page:
    """Show a new API key with its secret and a call that uses it, once and in the browser that made it."""
    await call.read(api_keys.require_creatable, org_slug, service_slug)
    return await show_key(call, org_slug, service_slug, api_key_id, shown_id=shown_id)


@routes.get(f"{KEY}/revoke", refuses=(ServiceUnknown, ApiKeyUnknown))
@on_service_in_console(Operation.API_KEYS_CHANGE)
async def ask_to_revoke_key(call: Call, org_slug: str, service_slug: str, api_key_id: UUID) -> Page:
    """Show what stops with an API key."""
    at, shown = await opened_service(
        call,
        org_slug,
        service_slug,
        Operation.API_KEYS_CHANGE,
        api_keys.show_made,
        api_key_id,
        Operation.API_KEYS_CHANGE,
    )
    return service_page(
        call,
        "services/api_keys_revocation.html",
        at,
        program=Program("API_keys_delete_api_key", org_slug, service_slug, api_key_id),
        shown=shown,
        permissions=PERMISSIONS,
        now=call.installation.clock(),
        keys=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{KEY}/revoke", refuses=(ServiceUnknown, ApiKeyUnknown))
@on_service_in_console(Operation.API_KEYS_CHANGE)
@shows_again(show_service_keys, ApiKeyUnknown)
async def revoke_key(call: Call, org_slug: str, service_slug: str, api_key_id: UUID) -> PageOrRedirect:
    """Revoke an API key; programs use `DELETE …/services/:service_slug/api-keys/:api_key_id`."""
    await call.transact(api_keys.delete, org_slug, service_slug, api_key_id)
    return after(page_of_service(org_slug, service_slug) + TAB, "key-revoked")


def _example(call: Call, name: str, shown: ListedApiKey, secret: str) -> str:
    """Return a call with a key as a command; it works as it is, except where it says what to put in."""
    example = next(_EXAMPLES[one] for one in _EXAMPLES if one in shown.key.permissions)
    route = route_of(call, example.operation)
    method = "" if route.method == "GET" else f"-X {route.method} "
    lines = [
        f"curl {method}{call.installation.settings.base_url}{path_with(route.path, example.at)}",
        f"-H 'X-Api-Key: {secret}'",
    ]
    if example.body is not None:
        sent = encode({field: value or name for field, value in example.body.items()}).decode()
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(sent)}"]
    return " \\\n  ".join(lines)
