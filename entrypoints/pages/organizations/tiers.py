"""The pages of the tiers: the limits that organizations have, creating, changing and deleting a tier."""

from dataclasses import asdict
from typing import Final
from uuid import UUID

from core.errors import BadRequest, Refusal, all_valid
from core.organizations import tiers
from core.organizations.authorization import authorize_platform
from core.organizations.tiers import (
    NoSuchTier,
    Tier,
    TierChanged,
    TierFields,
    TierInUse,
    TierNeeded,
    TierTaken,
    TooManyTiers,
)
from core.text import slug_of_name
from entrypoints.pages.console.frame import (
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    Program,
    after,
    console_page,
    opened_for_platform,
    with_query,
)
from entrypoints.pages.console.prices import amount_of, limit_of, price, smallest_of
from entrypoints.pages.frame.forms import DoneQuery, SeenStateForm
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import platform_owner_in_console, platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

TIERS: Final = f"{PLATFORM}/tiers"
TIER: Final = f"{TIERS}/:tier_id"
_NO_NUMBER: Final = marked("Enter a whole number up to 1,000,000, or nothing for no limit.")


class NewTierForm(ProtectedForm, kw_only=True):
    """A new tier, as it is typed; an empty limit is no limit."""

    display_name: str = ""
    name: str = ""
    max_services: str = ""
    max_users: str = ""
    price: str = ""


class ChangedTierForm(ProtectedForm, kw_only=True):
    """What a tier is to be, as it is typed, and the state that the page has shown of it."""

    display_name: str = ""
    max_services: str = ""
    max_users: str = ""
    price: str = ""
    seen_state: str = ""


@routes.get(TIERS)
@platform_support_in_console
async def show_tiers(
    call: Call, *, query: DoneQuery | None = None, form: NewTierForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the tiers, their limits and how many organizations have each, the smallest first."""
    standing, found = await opened_for_platform(call, tiers.list_counted)
    return console_page(
        call,
        "organizations/tiers.html",
        standing,
        program=Program("platform_organizations_list_tiers"),
        done=query.done if query is not None else "",
        refusal=refusal,
        tiers=[(one.tier, _price(call, one.tier), one.organizations, _organizations(one.tier)) for one in found],
        form=form or NewTierForm(),
        problems=problems_of(refusal),
        page=TIERS,
    )


@routes.post(TIERS, refuses=(TierTaken, TooManyTiers))
@platform_owner_in_console
@shows_again(show_tiers, BadRequest, TierTaken)
async def create_tier(call: Call, form: NewTierForm) -> PageOrRedirect:
    """Create a tier; programs use `POST /api/platform/tiers`."""
    await call.read(authorize_platform)
    tier = await call.transact(tiers.create, _fields(form, form.name.strip() or slug_of_name(form.display_name)))
    return after(f"{TIERS}/{tier.id}", "tier-created")


@routes.get(TIER, refuses=(NoSuchTier,))
@platform_support_in_console
async def show_tier(
    call: Call,
    tier_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: ChangedTierForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a tier, how many organizations have it, and the form that changes it."""
    standing, shown = await opened_for_platform(call, tiers.show, tier_id)
    tier = shown.tier
    return console_page(
        call,
        "organizations/tiers_one.html",
        standing,
        program=Program(
            "platform_organizations_update_tier",
            tier_id,
            body={"default_max_services": tier.default_max_services, "default_max_users": tier.default_max_users},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        tier=tier,
        price=_price(call, tier),
        organizations=shown.organizations,
        list=_organizations(tier),
        form=form or _form(tier),
        problems=problems_of(refusal),
        page=f"{TIERS}/{tier_id}",
        page_of_all=TIERS,
    )


@routes.post(TIER, refuses=(NoSuchTier, TierChanged))
@platform_owner_in_console
@shows_again(show_tier, BadRequest, TierChanged)
async def save_tier(call: Call, tier_id: UUID, form: ChangedTierForm) -> PageOrRedirect:
    """Change a tier; programs use `PATCH /api/platform/tiers/:id`."""
    await call.read(authorize_platform)
    changes = asdict(_fields(form, ""))
    del changes["name"]
    await call.transact(tiers.change, tier_id, changes, seen_state=form.seen_state)
    return after(f"{TIERS}/{tier_id}", "tier-saved")


@routes.get(f"{TIER}/delete", refuses=(NoSuchTier,))
@platform_owner_in_console
async def ask_to_delete_tier(call: Call, tier_id: UUID, *, refusal: Refusal | None = None) -> Page:
    """Show how many organizations have a tier, and ask whether it is to be deleted."""
    standing, shown = await opened_for_platform(call, tiers.show_to_owner, tier_id)
    return console_page(
        call,
        "organizations/tiers_deletion.html",
        standing,
        program=Program("platform_organizations_delete_tier", tier_id),
        refusal=refusal,
        tier=shown.tier,
        organizations=shown.organizations,
        list=_organizations(shown.tier),
        page=f"{TIERS}/{tier_id}",
    )


@routes.post(f"{TIER}/delete", refuses=(NoSuchTier, TierChanged, TierInUse, TierNeeded))
@platform_owner_in_console
@shows_again(ask_to_delete_tier, TierChanged, TierInUse, TierNeeded)
async def delete_tier(call: Call, tier_id: UUID, form: SeenStateForm) -> PageOrRedirect:
    """Delete a tier; programs use `DELETE /api/platform/tiers/:id`."""
    await call.transact(tiers.delete, tier_id, seen_state=form.seen_state)
    return after(TIERS, "tier-deleted")


def _fields(form: NewTierForm | ChangedTierForm, name: str) -> TierFields:
    """Return the tier that is meant; raise one `BadRequest` that names all fields that are no numbers."""
    max_services, max_users, price_cents = all_valid(
        lambda: limit_of(form.max_services, "max_services", _NO_NUMBER),
        lambda: limit_of(form.max_users, "max_users", _NO_NUMBER),
        lambda: smallest_of("price", form.price.strip() or "0", ""),
    )
    return TierFields(
        name=name,
        display_name=form.display_name,
        default_max_services=max_services,
        default_max_users=max_users,
        price_cents=price_cents,
    )


def _form(tier: Tier) -> ChangedTierForm:
    """Return the form with what is stored of a tier."""
    services, users = tier.default_max_services, tier.default_max_users
    return ChangedTierForm(
        display_name=tier.display_name,
        max_services="" if services is None else str(services),
        max_users="" if users is None else str(users),
        price=str(amount_of(tier.price_cents, "")),
    )


def _price(call: Call, tier: Tier) -> str:
    return price(language_of(call), tier.price_cents, None)


def _organizations(tier: Tier) -> str:
    """Return the address of the list of the organizations that have a tier."""
    return with_query(PLATFORM_ORGANIZATIONS, tier=tier.id)
