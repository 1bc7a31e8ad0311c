"""People who work at A and have linked their account to its connection, and who have left."""

from __future__ import annotations

from tests.tenants import connecting, giving, receiving
from tests.tenants.neighbourhood import A, Neighbourhood
from tests.tenants.taking import Story, step


@step(Story.CONNECTING)
async def works_for_a(hood: Neighbourhood, whole: bool) -> None:
    """The directory of A adds Alice, who links the account of her address at work; the owner lets her go, or not."""
    address = next(one for one in hood.alice.addresses if hood.is_at(A, one))
    await giving.scim_creates(hood, A, address, True)
    await connecting.links_by_connection(hood, address)
    # Their address, before they go.
    receiving.notice(hood)
    user_id = hood.user_id(address)
    if whole and user_id is not None:
        answer = await hood.by_owner(A, "POST", f"/members/{user_id}")
        await giving.removed(hood, A, user_id, answer, "the owner removed the member")
