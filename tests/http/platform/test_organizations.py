"""Organizations as platform owners manage them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from itertools import product
from typing import Any
from uuid import UUID

import pytest
import trio

from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.http.platform.organizations import STATUSES, TRANSITIONS, organization
from tests.statements import recorded_statements
from tests.world.builder import NO_ID, TIERS
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PATH = "/api/platform/organizations"
COLUMNS = ("action", "actor_user_id", "details")
PLATFORM_COLUMNS = ("action", "actor_user_id", "target_id", "organization_id", "details")
NOW = "2026-02-03T04:05:06Z"


every_transition = pytest.mark.parametrize("verb", TRANSITIONS)


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


async def transition(root: SignedInUser, verb: str, organization_id: UUID | str, body: Any = None) -> Answer:
    """Request a transition of an organization."""
    return await root.post(f"{PATH}/{organization_id}/{verb}", TRANSITIONS[verb][2] if body is None else body)


class TestList:
    """Listing the organizations of the platform."""

    async def test_an_organization_is_listed_with_its_owner_and_its_tier(
        self, world: World, root: SignedInUser
    ) -> None:
        ada = await world.signed_in_member(world.organization())
        record = (await ada.get("/api/organizations/acme")).json["organization"]

        answer = await root.get(PATH)

        assert answer.status == 200
        assert answer.json == {
            "organizations": [
                {
                    "organization": record,
                    "owner": {"id": str(ada.id), "email": ada.email, "is_platform_owner": False, "created_at": NOW},
                    "unclaimed": False,
                    "tier": {"id": str(TIERS["free"]), "name": "free", "display_name": "Free"},
                }
            ],
            "total": 1,
        }

    async def test_a_deleted_owner_is_shown_as_documented(self, world: World, root: SignedInUser) -> None:
        acme = world.organization()
        world.member(acme, world.user("bob@example.com"), "admin")

        [listed] = (await root.get(PATH)).json["organizations"]

        assert listed["owner"] == {
            "id": "unknown",
            "email": "deleted-user@unknown",
            "is_platform_owner": False,
            "created_at": "1970-01-01T00:00:00Z",
        }

    async def test_organizations_are_listed_in_pages_the_newest_first(
        self, world: World, root: SignedInUser, clock: SettableClock
    ) -> None:
        for number in range(3):
            world.organization(f"org-{number}")
            clock.advance(timedelta(seconds=1))

        pages = [(await root.get(f"{PATH}?limit=2&offset={offset}")).json for offset in (0, 2, 4)]

        slugs = [[one["organization"]["slug"] for one in page["organizations"]] for page in pages]
        assert slugs == [["org-2", "org-1"], ["org-0"], []]
        assert [page["total"] for page in pages] == [3, 3, 3]

    async def test_a_page_has_50_organizations_by_default_and_100_at_most(
        self, world: World, root: SignedInUser
    ) -> None:
        for number in range(101):
            world.organization(f"org-{number}")

        sizes = [len((await root.get(f"{PATH}{query}")).json["organizations"]) for query in ("", "?limit=1000")]

        assert sizes == [50, 100]

    async def test_the_list_is_filtered_by_state_and_tier(
        self, world: World, root: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for status, tier in product(("pending", "active"), ("free", "enterprise")):
            made = world.organization(f"{status}-{tier}", status=status)
            world.rows("UPDATE organizations SET tier_id = %s WHERE id = %s RETURNING id", TIERS[tier], made)

        for query, slugs in (
            ("?status=active", {"active-free", "active-enterprise"}),
            ("?status=rejected", set()),
            (f"?tier_id={TIERS['free']}", {"pending-free", "active-free"}),
            (f"?tier_id={TIERS['free']}&status=active", {"active-free"}),
            (f"?tier_id={NO_ID}", set()),
        ):
            with subtests.test(query=query, slugs=slugs):
                answer = await root.get(PATH + query)

                assert {one["organization"]["slug"] for one in answer.json["organizations"]} == slugs
                assert answer.json["total"] == len(slugs)

    async def test_an_invalid_query_is_refused(self, root: SignedInUser, subtests: pytest.Subtests) -> None:
        for query in ("?status=open", "?tier_id=1", "?limit=0", "?offset=-1", "?limit=x"):
            with subtests.test(query=query):
                assert_refused(await root.get(PATH + query), 400, "BAD_REQUEST")

    async def test_the_list_executes_two_statements(self, world: World, root: SignedInUser) -> None:
        world.organization()

        with recorded_statements() as statements:
            await root.get(PATH)

        assert len(statements) == 2


class TestTransitions:
    """Changing the state of an organization."""

    @every_transition
    async def test_a_transition_changes_the_state_and_returns_the_record(
        self, world: World, root: SignedInUser, verb: str
    ) -> None:
        acme = organization(world, verb)

        answer = await transition(root, verb, acme)

        assert answer.status == 200, answer.text
        [listed] = (await root.get(PATH)).json["organizations"]
        assert answer.json == {"organization": listed["organization"]}
        assert answer.json["organization"]["status"] == TRANSITIONS[verb][1]

    @pytest.mark.parametrize(
        ("verb", "marks"),
        [
            ("approve", {"approved_at": NOW}),
            ("reject", {"rejected_at": NOW, "rejection_reason": "A copy of another one."}),
            ("suspend", {"suspended_at": NOW, "suspension_reason": "The bill is not paid."}),
            ("activate", {"suspended_at": None, "suspension_reason": None}),
        ],
    )
    async def test_the_record_has_the_time_and_the_reason(
        self, world: World, root: SignedInUser, verb: str, marks: dict[str, Any]
    ) -> None:
        acme = organization(world, verb)
        if verb == "activate":
            world.rows("UPDATE organizations SET suspended_at = now(), suspension_reason = 'x' RETURNING id")

        record = (await transition(root, verb, acme)).json["organization"]

        assert {name: record[name] for name in marks} == marks
        assert record["approved_by"] == (str(root.id) if verb == "approve" else None)
        assert record["updated_at"] == NOW

    async def test_a_transition_from_any_other_state_is_refused(
        self, world: World, root: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        for verb, status in (
            (verb, status) for verb in TRANSITIONS for status in STATUSES if status != TRANSITIONS[verb][0]
        ):
            with subtests.test(verb=verb, status=status):
                acme = world.organization(f"{verb}-{status}", status=status)

                answer = await transition(root, verb, acme)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["error"].endswith(f"this one is {status}.")
                assert world.platform_audit_entries(None, *PLATFORM_COLUMNS) == []

    @every_transition
    async def test_a_transition_is_recorded_in_both_logs_and_published(
        self, world: World, root: SignedInUser, verb: str
    ) -> None:
        acme = organization(world, verb)

        await transition(root, verb, acme)

        before, after, body = TRANSITIONS[verb]
        [(action, actor, target, about, details)] = world.platform_audit_entries(None, *PLATFORM_COLUMNS)
        [(own_action, own_actor, own_details)] = world.audit_entries(None, *COLUMNS, organization_id=acme)
        [(receiver, email, data)] = world.events("organization.updated")
        named = {"approve": "approved", "reject": "rejected", "suspend": "suspended", "activate": "activated"}
        assert (action, actor, target, about) == (f"organization.{named[verb]}", root.id, str(acme), acme)
        assert details["slug"] == "acme"
        assert details.get("reason") == body.get("reason")
        assert (own_action, own_actor) == ("organization.updated", root.id)
        assert own_details["changes"]["status"] == {"from": before, "to": after}
        assert (receiver, email, data) == (acme, root.email, own_details)

    async def test_the_log_has_times_in_the_format_of_the_interface(self, world: World, root: SignedInUser) -> None:
        acme = organization(world, "approve")

        await transition(root, "approve", acme)

        [(_, _, details)] = world.audit_entries(None, *COLUMNS, organization_id=acme)
        assert details["changes"]["approved_at"] == {"from": None, "to": NOW}

    async def test_an_unknown_organization_is_not_found(self, root: SignedInUser, subtests: pytest.Subtests) -> None:
        for verb in TRANSITIONS:
            with subtests.test(verb=verb):
                assert_refused(await transition(root, verb, NO_ID), 404, "NOT_FOUND")

    @every_transition
    async def test_of_two_concurrent_transitions_one_succeeds(
        self, world: World, root: SignedInUser, verb: str
    ) -> None:
        acme = organization(world, verb)
        other = await world.signed_in_platform_owner("other@example.com")

        answers = await at_once(partial(transition, root, verb, acme), partial(transition, other, verb, acme))

        assert statuses_of(answers) == [200, 400]
        assert (
            len(world.platform_audit_entries(None, *PLATFORM_COLUMNS))
            == len(world.audit_entries(None, *COLUMNS, organization_id=acme))
            == 1
        )

    async def test_of_concurrent_approval_and_rejection_one_succeeds(self, world: World, root: SignedInUser) -> None:
        acme = world.organization(status="pending")
        statuses: dict[str, int] = {}

        async def request(verb: str) -> None:
            statuses[verb] = (await transition(root, verb, acme)).status

        async with trio.open_nursery() as nursery:
            nursery.start_soon(request, "approve")
            nursery.start_soon(request, "reject")

        [winner] = [verb for verb, status in statuses.items() if status == 200]
        assert sorted(statuses.values()) == [200, 400]
        assert world.value("SELECT status FROM organizations") == TRANSITIONS[winner][1]

    async def test_an_approval_may_set_the_tier(self, world: World, root: SignedInUser) -> None:
        acme = world.organization(status="pending")

        answer = await transition(root, "approve", acme, {"tier_id": str(TIERS["professional"])})

        assert answer.json["organization"]["tier_id"] == str(TIERS["professional"])

    async def test_an_approval_with_an_unknown_tier_is_refused(
        self, world: World, root: SignedInUser, subtests: pytest.Subtests
    ) -> None:
        acme = world.organization(status="pending")

        for tier_id in (str(NO_ID), "professional", 1):
            with subtests.test(tier_id=tier_id):
                assert_refused(await transition(root, "approve", acme, {"tier_id": tier_id}), 400, "BAD_REQUEST")
                assert world.value("SELECT status FROM organizations") == "pending"

    @pytest.mark.parametrize("body", [{}, {"reason": None}, {"reason": "  "}, {"reason": "x" * 1001}])
    async def test_a_rejection_needs_a_reason(self, world: World, root: SignedInUser, body: dict[str, Any]) -> None:
        answer = await transition(root, "reject", world.organization(status="pending"), body)

        assert_refused(answer, 400, "BAD_REQUEST")
        assert answer.json["details"][0]["field"] == "reason"

    @pytest.mark.parametrize("body", [{}, {"reason": None}, {"reason": "  "}])
    async def test_a_suspension_needs_no_reason(self, world: World, root: SignedInUser, body: dict[str, Any]) -> None:
        answer = await transition(root, "suspend", world.organization(), body)

        assert (answer.status, answer.json["organization"]["suspension_reason"]) == (200, None)

    @every_transition
    async def test_only_a_platform_owner_changes_the_state(self, world: World, verb: str) -> None:
        ada = await world.signed_in_member(organization(world, verb))

        for organization_id in (world.value("SELECT id FROM organizations"), NO_ID, "no-id"):
            assert_refused(await transition(ada, verb, organization_id, {"reason": 1}), 403, "FORBIDDEN")


class TestSuspension:
    """A suspended organization refuses the next request, also one with a token that was issued before."""

    async def test_every_request_in_it_is_refused_until_it_is_active_again(
        self, world: World, root: SignedInUser
    ) -> None:
        acme = world.organization()
        ada = await world.signed_in_member(acme)
        inside = await world.sign_in_as(ada.id, ada.email, org_slug="acme")
        requests = [
            lambda: inside.patch("/api/organizations/acme", {"name": "Acme Ltd"}),
            lambda: inside.post("/api/organizations/acme/select"),
            lambda: inside.delete("/api/organizations/acme"),
            lambda: world.refresh(inside.refresh_token),
            lambda: world.log_in(ada.email, org_slug="acme"),
        ]

        await transition(root, "suspend", acme)

        for send in requests:
            assert_refused(await send(), 403, "ORGANIZATION_NOT_ACTIVE")
        # Requests about the user alone still work, and so does reading that it is suspended.
        for path in ("/api/user", "/api/organizations", "/api/organizations/acme"):
            assert (await inside.get(path)).status == 200
        await transition(root, "activate", acme)
        assert (await requests[0]()).status == 200
        assert (await world.refresh(inside.refresh_token)).status == 200


class TestDelete:
    """Deleting an organization."""

    @pytest.mark.parametrize("status", STATUSES)
    async def test_it_is_deleted_in_every_state_and_the_platform_log_records_it(
        self, world: World, root: SignedInUser, status: str
    ) -> None:
        acme = world.organization(status=status)
        ada = await world.signed_in_member(acme)

        answer = await root.delete(f"{PATH}/{acme}")

        assert (answer.status, answer.content) == (204, b"")
        assert_refused(await ada.get("/api/organizations/acme"), 404, "NOT_FOUND")
        details = {"slug": "acme", "name": "Acme", "status": status}
        assert world.platform_audit_entries(None, *PLATFORM_COLUMNS) == [
            ("organization.deleted", root.id, str(acme), acme, details)
        ]

    async def test_of_two_concurrent_deletions_one_succeeds(self, world: World, root: SignedInUser) -> None:
        acme = world.organization()

        answers = await at_once(*[partial(root.delete, f"{PATH}/{acme}")] * 2)

        assert statuses_of(answers) == [204, 404]
        assert len(world.platform_audit_entries(None, *PLATFORM_COLUMNS)) == 1

    async def test_its_slug_can_be_used_again(self, world: World, root: SignedInUser) -> None:
        await root.delete(f"{PATH}/{world.organization()}")

        answer = await root.post("/api/organizations", {"slug": "acme", "name": "Acme"})

        assert answer.status == 200
