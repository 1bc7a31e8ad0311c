"""The claims of the desk's own: in tokens and assertions they are of the context of the session, and of that alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from tests.tenants import desk_rows
from tests.tenants.customers import Customer, Facts, Rights, V
from tests.tenants.desk import Desk
from tests.tenants.model import Violation
from tests.tenants.taking import Story, step
from tests.world.builder import NO_ID

if TYPE_CHECKING:
    from tests.tenants.neighbourhood import Neighbourhood

NOTED: Final = "a claim said what the vendor notes"
DESCRIBED: Final = "a claim said what a directory says"
KIND: Final = "claimed"
# A session that is older than the last proof of the address does not count what is unconfirmed.
_IF_COUNTED: Final = ("desk_role", "desk_badge")


@step(Story.SELLING)
async def vendor_notes(hood: Neighbourhood, address: str, of: str, whole: bool) -> None:
    """The vendor's program notes something about a person and a customer; the programs of others try it as well."""
    desk = await desk_rows.opened(hood)
    customer = [one for one in desk.customers if one.of == of][-1]
    path = f"/api/service/users/{hood.user_id(address) or NO_ID}"
    note = f"note {len(desk.notes)} of the desk"
    for key, said in ((desk.key, note), *((one.key, f"note of {name}") for name, one in hood.organizations.items())):
        answer = await hood.send("PATCH", path, {"metadata": {"note": said}}, headers={"X-Api-Key": key})
        if key == desk.key and answer.status == 200:
            desk.notes.append(note)
    if not whole:
        return
    path = f"/api/service/customers/{customer.id}"
    for key in (*(one.key for one in hood.organizations.values()), desk.key):
        body = {"metadata": {"note": f"{note} about {customer.slug}"}}
        answer = await hood.send("PATCH", path, body, headers={"X-Api-Key": key})
        if answer.status == 200 and key != desk.key:
            raise Violation(KIND, f"another one than the vendor has noted something about {customer.slug}")
        if answer.status == 200:
            customer.note = body["metadata"]["note"]
    if customer.note and not customer.is_ended and not customer.is_suspended:
        product = await hood.by_owner(of, "GET", f"/products/{desk.party.client_id}")
        if customer.note in product.text:
            raise Violation(KIND, f"{customer.slug} reads what the vendor notes about it: {product.text}")


@step(Story.SELLING)
async def directories_describe(hood: Neighbourhood, address: str) -> None:
    """The directory of each organization says by which id it knows a person who is a member there."""
    desk = await desk_rows.opened(hood)
    for name, organization_id in desk_rows.organizations(hood, desk).items():
        hood.world.connection.execute(
            """
            INSERT INTO scim_profiles (organization_id, user_id, user_name, external_id, updated_at)
            SELECT m.organization_id, m.user_id, u.email, %s, now()
            FROM   memberships m
            JOIN   users u ON u.id = m.user_id
            WHERE  m.organization_id = %s AND u.email = %s
            ON CONFLICT (organization_id, user_id) DO UPDATE SET external_id = excluded.external_id
            """,
            (f"badge at {name}", organization_id, address),
        )


def judge(
    hood: Neighbourhood,
    desk: Desk,
    user_id: str,
    facts: Facts,
    *,
    customer_id: str,
    rights: Rights | None,
    claims: dict[str, Any],
    source: str,
) -> None:
    """Raise `Violation` when claims say something else than the sources do in the context of a session."""
    if rights is None:
        return
    customer = next((one for one in desk.customers if one.id == customer_id), None)
    of = customer.of if customer is not None else V
    expected = _expected(hood, desk, user_id, facts, customer, rights)
    membership = facts.memberships.get(of)
    for name in desk_rows.CLAIMS:
        said, right = _as_list(claims.get(name)), _as_list(expected.get(name))
        is_unsure = name in _IF_COUNTED and membership is not None and not membership.is_confirmed
        if said != right and not (is_unsure and not said):
            raise Violation(KIND, f"{source} of {user_id} for {of} has {name} {said}, and should have {right}")
    hood.explained |= {NOTED} if expected.get("desk_person") or expected.get("desk_customer") else set()
    hood.explained |= {DESCRIBED} if expected.get("desk_badge") else set()


def _expected(
    hood: Neighbourhood, desk: Desk, user_id: str, facts: Facts, customer: Customer | None, rights: Rights
) -> dict[str, Any]:
    of = customer.of if customer is not None else V
    membership = facts.memberships.get(of)
    expected: dict[str, Any] = {
        "desk_organization": f"organization {desk.party.organization_id}",
        "desk_person": _noted(hood, desk, user_id),
        "desk_roles": list(rights.service_roles),
    }
    if customer is not None:
        expected |= {
            "desk_customer": customer.note,
            "desk_customer_role": rights.customer_role,
        }
    elif membership is not None and not membership.is_suspended:
        expected["desk_role"] = membership.role
    if membership is not None and not membership.is_suspended and (customer is None or customer.shares_directory):
        expected["desk_badge"] = _badge(hood, desk_rows.organizations(hood, desk)[of], user_id)
    return expected


def _noted(hood: Neighbourhood, desk: Desk, user_id: str) -> str | None:
    """Return what the desk has noted about a person who is still a user of it; that is none of what others have."""
    rows = hood.world.rows(
        "SELECT metadata ->> 'note' FROM service_user_metadata WHERE service_id = %s AND user_id = %s",
        desk.party.service_id,
        user_id,
    )
    if rows and rows[0][0] not in {None, *desk.notes}:
        raise Violation(KIND, f"another one than the desk has noted {rows[0][0]} about {user_id}")
    return rows[0][0] if rows else None


def _badge(hood: Neighbourhood, organization_id: UUID, user_id: str) -> str | None:
    rows = hood.world.rows(
        "SELECT external_id FROM scim_profiles WHERE organization_id = %s AND user_id = %s", organization_id, user_id
    )
    return rows[0][0] if rows else None


def _as_list(value: Any) -> list[Any]:
    if value in (None, ""):
        return []
    return value if isinstance(value, list) else [value]
