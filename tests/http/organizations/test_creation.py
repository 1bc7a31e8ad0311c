"""Founding an organization (decisions 5.1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from core.organizations.creation import PENDING_MAX, RESERVED_SLUGS
from entrypoints.settings import Settings
from tests.concurrency import at_once, statuses_of
from tests.world.builder import TIERS
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from tests.application import Answer
    from tests.world.signing_in import SignedInUser

RACERS = 8


@pytest.fixture
async def ada(world: World) -> SignedInUser:
    """Somebody who is signed in."""
    return await world.signed_in_user()


async def found(who: SignedInUser, slug: str = "acme", name: str = "Acme Ltd") -> Answer:
    """Found an organization."""
    return await who.post("/api/organizations", {"slug": slug, "name": name})


async def test_a_new_organization_is_pending_and_whoever_founds_it_owns_it(ada: SignedInUser) -> None:
    answer = await found(ada)

    assert answer.status == 200, answer.text
    organization, membership = answer.json["organization"], answer.json["membership"]
    assert organization == {
        "id": organization["id"],
        "slug": "acme",
        "name": "Acme Ltd",
        "status": "pending",
        "tier_id": str(TIERS["free"]),
        "max_services": None,
        "max_users": None,
        "mfa_required": False,
        "device_trust_days": 30,
        "created_at": "2026-02-03T04:05:06Z",
        "updated_at": "2026-02-03T04:05:06Z",
        "approved_at": None,
        "approved_by": None,
        "rejected_at": None,
        "rejection_reason": None,
        "suspended_at": None,
        "suspension_reason": None,
    }
    assert answer.json["owner"] == {
        "id": str(ada.id),
        "email": ada.email,
        "is_platform_owner": False,
        "created_at": "2026-02-03T04:05:06Z",
    }
    assert membership == {
        "id": membership["id"],
        "org_id": organization["id"],
        "user_id": str(ada.id),
        "role": "owner",
        "created_at": "2026-02-03T04:05:06Z",
    }


async def test_it_is_stored_as_it_is_answered(ada: SignedInUser) -> None:
    answer = await found(ada)

    [mine] = (await ada.get("/api/organizations")).json
    assert (mine["organization"], mine["membership"]) == (answer.json["organization"], answer.json["membership"])


async def test_founding_one_writes_no_action_that_the_documents_do_not_name(world: World, ada: SignedInUser) -> None:
    await found(ada)

    assert world.value("SELECT count(*) FROM audit_entries") == 0


async def test_the_slug_is_taken_as_it_is_and_the_name_without_blanks_around_it(ada: SignedInUser) -> None:
    answer = await found(ada, name="  Ada & Söhne  ")

    assert answer.json["organization"]["name"] == "Ada & Söhne"


async def test_whose_address_is_not_verified_founds_nothing(world: World, ada: SignedInUser) -> None:
    world.rows("UPDATE users SET email_verified_at = NULL RETURNING id")

    answer = await found(ada)

    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["error"].startswith("Verify your email address first")


async def test_a_service_founds_nothing_with_the_tokens_of_its_users(world: World, ada: SignedInUser) -> None:
    world.service(world.organization("market"))
    buyer = await world.sign_in_as(ada.id, ada.email, org_slug="market", service_slug="shop")

    assert_refused(await found(buyer), 403, "FORBIDDEN")


async def test_who_is_not_signed_in_founds_nothing(world: World) -> None:
    answer = await world.client.post("/api/organizations", body={"slug": "acme", "name": "Acme"})

    assert_refused(answer, 401, "UNAUTHORIZED")


@pytest.mark.parametrize("slug", ["abc", "a-1-b", "007", "x" * 50])
async def test_a_slug_has_3_to_50_small_letters_digits_and_single_dashes(ada: SignedInUser, slug: str) -> None:
    assert (await found(ada, slug)).status == 200


@pytest.mark.parametrize(
    "slug", ["", "ab", "x" * 51, "Acme", "ac me", "-acme", "acme-", "ac--me", "ac_me", "äcme", "acme\n", "a.b"]
)
async def test_anything_else_is_no_slug(ada: SignedInUser, slug: str) -> None:
    answer = await found(ada, slug)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.json["details"][0]["field"] == "slug"


def test_the_reserved_words_are_those_of_the_decisions() -> None:
    words = "api www mail admin root support help docs status health cdn assets static platform auth saml scim"

    assert " ".join(sorted(RESERVED_SLUGS)) == " ".join(sorted(words.split()))


async def test_reserved_words_are_no_slugs(ada: SignedInUser) -> None:
    answers = [await found(ada, slug) for slug in sorted(RESERVED_SLUGS)]

    assert {(answer.status, answer.json["details"][0]["field"]) for answer in answers} == {(400, "slug")}


@pytest.mark.parametrize("name", ["ab", "x" * 100, "\u0646\u0627\u0645\u200c\u0647\u0627", "👩\u200d🚀 Rockets"])
async def test_a_name_has_2_to_100_characters(ada: SignedInUser, name: str) -> None:
    answer = await found(ada, name=name)

    assert (answer.status, answer.json["organization"]["name"]) == (200, name)


@pytest.mark.parametrize(
    "name", ["", "a", " a ", "x" * 101, "Acme\nBcc: all", "Acme\x7f", "Acme\u2028Ltd", "Acme\u202edtL"]
)
async def test_anything_else_is_no_name(ada: SignedInUser, name: str) -> None:
    answer = await found(ada, name=name)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.json["details"][0]["field"] == "name"


async def test_a_slug_that_is_taken_is_a_conflict(world: World, ada: SignedInUser) -> None:
    world.organization("acme", status="rejected")

    assert_refused(await found(ada), 409, "CONFLICT")


async def test_of_two_who_want_one_slug_at_once_one_gets_it(world: World, ada: SignedInUser) -> None:
    bob = await world.signed_in_user("bob@example.com")

    answers = await at_once(partial(found, ada), partial(found, bob))

    assert statuses_of(answers) == [200, 409]
    assert world.value("SELECT count(*) FROM memberships") == 1


async def test_nobody_owns_more_than_five_that_are_pending(world: World, ada: SignedInUser) -> None:
    for number in range(PENDING_MAX):
        assert (await found(ada, f"org-{number}")).status == 200

    answer = await found(ada, "one-more")

    assert PENDING_MAX == 5
    assert_refused(answer, 400, "BAD_REQUEST")
    assert "waiting for approval" in answer.json["error"]


async def test_those_that_were_decided_about_and_those_of_others_do_not_count(world: World, ada: SignedInUser) -> None:
    for status in ("active", "suspended", "rejected"):
        world.member(world.organization(status, status=status), ada.id, "owner")
    for number in range(PENDING_MAX):
        world.member(world.organization(f"other-{number}", status="pending"), ada.id, "admin")

    assert (await found(ada)).status == 200


async def test_not_even_by_founding_them_all_at_once(world: World, ada: SignedInUser) -> None:
    answers = await at_once(*[partial(found, ada, f"org-{number}") for number in range(RACERS)])

    assert statuses_of(answers) == [200] * PENDING_MAX + [400] * (RACERS - PENDING_MAX)
    assert world.value("SELECT count(*) FROM organizations") == PENDING_MAX


class TestAutoApproval:
    """Where every organization is welcome (GATEHOUSE_AUTO_APPROVE)."""

    @pytest.fixture
    def settings(self) -> Settings:
        """The settings with automatic approval."""
        return Settings(dev=True, auto_approve=True)

    async def test_a_new_organization_is_active_at_once(self, ada: SignedInUser) -> None:
        organization = (await found(ada)).json["organization"]

        assert organization["status"] == "active"
        assert (organization["approved_at"], organization["approved_by"]) == ("2026-02-03T04:05:06Z", None)

    async def test_nobody_has_to_wait_for_approval_so_the_five_do_not_matter(self, ada: SignedInUser) -> None:
        answers = [await found(ada, f"org-{number}") for number in range(PENDING_MAX + 1)]

        assert {answer.status for answer in answers} == {200}
