"""The pages of the keys of an organization: the keys, creating one, and deleting one."""

import shlex
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations import keys
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize
from core.organizations.keys import (
    LIFETIME_DAYS_MAX,
    MadeByKeyKind,
    OrganizationKeyUnknown,
    TooManyOrganizationKeys,
)
from core.sessions.shown_secrets import ToShow
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of, path_in_interface
from entrypoints.pages.frame.forms import DoneQuery, filled
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.roles import CAPABILITIES, capability_boxes, chosen_capabilities
from entrypoints.pages.sessions.shown_secrets import leading_to, shown_once
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

KEYS: Final = "/app/organizations/:org_slug/keys"
# What a key makes, by the words for people.
KINDS: Final = {
    MadeByKeyKind.API_KEY: marked("API key"),
    MadeByKeyKind.SCIM_TOKEN: marked("SCIM token"),
    MadeByKeyKind.SETUP_LINK: marked("Setup link"),
}
# What a key may read of its organization, by its operation.
READS: Final = PartialTable(
    {
        Capability.ORG_SETTINGS_MANAGE: "organizations_read_organization",
        Capability.ORG_MEMBERS_VIEW: "members_list_members",
        Capability.ORG_MEMBERS_MANAGE: "invitations_list_invitations",
        Capability.ORG_ROLES_MANAGE: "roles_list_roles",
        Capability.SERVICES_VIEW: "services_list_services",
        Capability.END_USERS_VIEW: "end_users_list_end_users",
        Capability.WEBHOOKS_MANAGE: "webhooks_list_webhooks",
        Capability.INTEGRATIONS_MANAGE: "upstream_connections_list_upstream_providers",
        Capability.AUDIT_LOGS_VIEW: "audit_log_read_audit_log",
        Capability.ANALYTICS_VIEW: "analytics_recent_logins",
        Capability.PRODUCTS_MANAGE: "products_list_products",
    }
)


class KeyForm(ProtectedForm, kw_only=True):
    """A new key: its name, what it opens, and after how many days it expires, or nothing."""

    name: str = ""
    permissions: Annotated[list[str], msgspec.Meta(description="The capabilities of the key.")] = msgspec.field(
        default_factory=list[str]
    )
    expires_in_days: str = ""
    for_workloads: str = ""

    def days(self) -> int | None:
        """Return after how many days the key expires; None for never. Raise `BadRequest` for what is no such number."""
        typed = self.expires_in_days.strip()
        if not typed:
            return None
        is_number = typed.isascii() and typed.isdigit() and len(typed) <= len(str(LIFETIME_DAYS_MAX))
        if not is_number or not 1 <= int(typed) <= LIFETIME_DAYS_MAX:
            raise BadRequest.of_field(
                "expires_in_days",
                Wording("Enter a number of days from 1 to %(maximum)s, or nothing.", maximum=LIFETIME_DAYS_MAX),
            )
        return int(typed)


class KeyDeletionForm(ProtectedForm, kw_only=True):
    """Whether what a key has made is to end with it."""

    with_made: Annotated[str, msgspec.Meta(description="Ticked to end what the key has made.")] = ""


class KeysQuery(DoneQuery, kw_only=True):
    """What was typed into the form before its sender was asked to sign in again, and what was just done."""

    name: Annotated[str, msgspec.Meta(description="The name of a new key.", max_length=100)] = ""
    permissions: Annotated[list[str], msgspec.Meta(description="The capabilities of a new key.")] = msgspec.field(
        default_factory=list[str]
    )
    expires_in_days: Annotated[str, msgspec.Meta(description="After how many days a new key expires.")] = ""
    for_workloads: Annotated[str, msgspec.Meta(description="Ticked for a new key without a secret.")] = ""


@routes.get(KEYS)
@in_console(Operation.KEYS_READ)
async def show_keys(
    call: Call,
    org_slug: str,
    *,
    query: KeysQuery | None = None,
    form: KeyForm | None = None,
    made_id: UUID | None = None,
    shown_id: UUID | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the keys of an organization with their makers, also those that have expired in the last 90 days."""
    standing, found = await opened(call, org_slug, Operation.KEYS_READ, keys.list_with_makers)
    form = form or filled(KeyForm, query or KeysQuery())
    made = next((one.key for one in found if one.key.id == made_id), None)
    if made_id is not None and made is None:
        raise OrganizationKeyUnknown
    secret = "" if shown_id is None else "".join(await shown_once(call, shown_id))
    opened_by_key = made.permissions if made is not None else ()
    read = next((reading for one in opened_by_key if (reading := READS.get(one)) is not None), None)
    address = call.installation.settings.base_url + path_in_interface(call, read, org_slug) if read is not None else ""
    return console_page(
        call,
        "organizations/keys.html",
        standing,
        program=Program(
            "organization_keys_create_organization_key",
            org_slug,
            body={"name": form.name or "Deployment", "permissions": form.permissions or ["services.manage"]},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        found=found,
        at=call.installation.clock(),
        words=CAPABILITIES,
        form=form,
        problems=problems_of(refusal),
        boxes=capability_boxes(standing.capabilities),
        made=made,
        secret=secret,
        was_shown=shown_id is not None and not secret,
        address=shlex.quote(address) if address else "",
        page=f"{page_of(org_slug)}/keys",
    )


@routes.post(KEYS, makes_secret=True, refuses=(TooManyOrganizationKeys, Forbidden, BadRequest))
@in_console(Operation.KEY_CREATE)
@shows_again(show_keys, BadRequest)
async def make_key(call: Call, org_slug: str, form: KeyForm) -> PageOrRedirect:
    """Create a key that acts for you, and lead to its secret; programs use `POST /api/organizations/:slug/keys`."""
    await call.read(authorize, org_slug, Operation.KEY_CREATE)
    permissions, days = chosen_capabilities(form.permissions), form.days()
    if form.for_workloads:
        await recent(call)
        key, _ = await call.transact(
            keys.create, org_slug, name=form.name, permissions=permissions, expires_in_days=days, has_secret=False
        )
        return see_other(f"{page_of(org_slug)}/keys/{key.id}/workloads")
    return await leading_to(
        call,
        lambda uow: keys.create(uow, org_slug, name=form.name, permissions=permissions, expires_in_days=days),
        lambda made: ToShow(page=f"{page_of(org_slug)}/keys/{made[0].id}", secrets=tuple(filter(None, (made[1],)))),
    )


@routes.get(f"{KEYS}/:key_id/shown/:shown_id", shows_secret=True, refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEY_CREATE)
async def show_new_key(call: Call, org_slug: str, key_id: UUID, shown_id: UUID) -> Page:
    """Show the keys, and the secret of a new one, once and in the browser that made it."""
    await call.read(authorize, org_slug, Operation.KEY_CREATE)
    return await show_keys(call, org_slug, made_id=key_id, shown_id=shown_id)


@routes.get(f"{KEYS}/:key_id/delete", refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEYS_CHANGE)
async def ask_to_delete_key(call: Call, org_slug: str, key_id: UUID) -> Page:
    """Show what a key opens, what it has made and when it was last used, and ask whether it is to be deleted."""
    standing, ends = await opened(call, org_slug, Operation.KEYS_CHANGE, keys.show_ends, key_id)
    return console_page(
        call,
        "organizations/keys_deletion.html",
        standing,
        program=Program("organization_keys_delete_organization_key", org_slug, key_id),
        one=ends,
        kinds=KINDS,
        words=CAPABILITIES,
        page=f"{page_of(org_slug)}/keys",
    )


async def _show_keys_left(call: Call, org_slug: str, *, refusal: Refusal) -> Page:
    """Show the keys, after one was not found that was to be deleted."""
    return await show_keys(call, org_slug, refusal=refusal)


@routes.post(f"{KEYS}/:key_id/delete", refuses=(OrganizationKeyUnknown,))
@in_console(Operation.KEYS_CHANGE)
@shows_again(_show_keys_left, OrganizationKeyUnknown)
async def delete_key_for_good(call: Call, org_slug: str, key_id: UUID, form: KeyDeletionForm) -> PageOrRedirect:
    """Delete a key; programs use `DELETE /api/organizations/:slug/keys/:key_id`."""
    await call.transact(keys.delete, org_slug, key_id, with_made=bool(form.with_made))
    return after(f"{page_of(org_slug)}/keys", "key-deleted")
