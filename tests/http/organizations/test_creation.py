"""Creating an organization."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from core.organizations.management import PENDING_MAX, RESERVED_SLUGS
from entrypoints.settings import Settings
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import TIERS
from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

RACERS = 8


@pytest.fixture
async def ada(world: World) -> SignedInUser:
    """A signed-in user."""
    return await world.signed_in_user()


async def create(user: SignedInUser, slug: str = "acme", name: str = "Acme Ltd") -> Answer:
    """Create an organization."""
    return await user.post("/api/organizations", {"slug": slug, "name": name})


async def test_an_invalid_slug_and_an_invalid_name_are_both_named(ada: SignedInUser) -> None:
    answer = await create(ada, slug="-", name="")

    assert (answer.status, answer.invalid_fields) == (400, ["slug", "name"])


async def test_a_new_organization_is_pending_and_owned_by_its_creator(ada: SignedInUser) -> None:
    answer = await create(ada)

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
        "mfa_methods": "any",
        "created_at": "2026-02-03T04:05:06Z",
        "updated_at": "2026-02-03T04:05:06Z",
        "approved_at": None,
        "approved_by": None,
        "rejected_at": None,
        "rejection_reason": None,
        "suspended_at": None,
        "suspension_reason": None,
        "deletes_at": None,
        "metadata": {},
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
        "status": "active",
    }


async def test_the_stored_organization_equals_the_answer(ada: SignedInUser) -> None:
    answer = await create(ada)

    [mine] = (await ada.get("/api/organizations")).json
    assert (mine["organization"], mine["membership"]) == (answer.json["organization"], answer.json["membership"])


async def test_creation_is_the_first_audit_entry_and_no_event(world: World, ada: SignedInUser) -> None:
    await create(ada)

    [(action, actor, target, details)] = world.audit_entries(None, "action", "actor_user_id", "target_id", "details")
    assert (action, actor, UUID(target)) == (
        "organization.updated",
        ada.id,
        world.value("SELECT id FROM organizations"),
    )
    assert details == {"change": "organization_created", "slug": "acme", "name": "Acme Ltd"}
    assert world.events("organization.updated") == []


async def test_blanks_around_the_name_are_removed(ada: SignedInUser) -> None:
    answer = await create(ada, name="  Ada & Söhne  ")

    assert answer.json["organization"]["name"] == "Ada & Söhne"


async def test_a_user_with_an_unverified_address_cannot_create_one(world: World, ada: SignedInUser) -> None:
    world.rows("UPDATE users SET email_verified_at = NULL RETURNING id")

    answer = await create(ada)

    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["error"].startswith("Verify your email address first")


async def test_a_token_that_was_issued_to_a_service_cannot_create_one(world: World, ada: SignedInUser) -> None:
    world.service(world.organization("market"))
    buyer = await world.sign_in_as(ada.id, ada.email, org_slug="market", service_slug="shop")

    assert_refused(await create(buyer), 403, "FORBIDDEN")


async def test_an_unauthenticated_caller_cannot_create_one(world: World) -> None:
    answer = await world.client.post("/api/organizations", body={"slug": "acme", "name": "Acme"})

    assert_refused(answer, 401, "UNAUTHORIZED")


@pytest.mark.parametrize("slug", ["abc", "a-1-b", "007", "x" * 50])
async def test_a_slug_has_3_to_50_lowercase_letters_digits_and_single_dashes(ada: SignedInUser, slug: str) -> None:
    assert (await create(ada, slug)).status == 200


async def test_an_invalid_slug_is_refused(ada: SignedInUser, subtests: pytest.Subtests) -> None:
    for slug in ("", "ab", "x" * 51, "Acme", "ac me", "-acme", "acme-", "ac--me", "ac_me", "äcme", "acme\n", "a.b"):
        with subtests.test(slug=slug):
            answer = await create(ada, slug)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.json["details"][0]["field"] == "slug"


def test_the_reserved_words_are_those_of_the_decisions() -> None:
    words = "api www mail admin root support help docs status health cdn assets static platform auth saml scim"

    assert " ".join(sorted(RESERVED_SLUGS)) == " ".join(sorted(words.split()))


async def test_a_reserved_word_is_refused_as_a_slug(ada: SignedInUser) -> None:
    answers = [await create(ada, slug) for slug in sorted(RESERVED_SLUGS)]

    assert {(answer.status, answer.json["details"][0]["field"]) for answer in answers} == {(400, "slug")}


@pytest.mark.parametrize("name", ["ab", "x" * 100, "\u0646\u0627\u0645\u200c\u0647\u0627", "👩\u200d🚀 Rockets"])
async def test_a_name_has_2_to_100_characters(ada: SignedInUser, name: str) -> None:
    answer = await create(ada, name=name)

    assert (answer.status, answer.json["organization"]["name"]) == (200, name)


async def test_an_invalid_name_is_refused(ada: SignedInUser, subtests: pytest.Subtests) -> None:
    for name in ("", "a", " a ", "x" * 101, "Acme\nBcc: all", "Acme\x7f", "Acme\u2028Ltd", "Acme\u202edtL"):
        with subtests.test(name=name):
            answer = await create(ada, name=name)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.json["details"][0]["field"] == "name"


async def test_a_slug_that_is_taken_is_a_conflict(world: World, ada: SignedInUser) -> None:
    world.organization("acme", status="rejected")

    assert_refused(await create(ada), 409, "CONFLICT")


async def test_of_two_concurrent_creations_with_one_slug_one_wins(world: World, ada: SignedInUser) -> None:
    bob = await world.signed_in_user("bob@example.com")

    answers = await at_once(partial(create, ada), partial(create, bob))

    assert statuses_of(answers) == [200, 409]
    assert world.value("SELECT count(*) FROM memberships") == 1


async def test_a_user_owns_at_most_five_pending_organizations(world: World, ada: SignedInUser) -> None:
    for number in range(PENDING_MAX):
        assert (await create(ada, f"org-{number}")).status == 200

    answer = await create(ada, "one-more")

    assert PENDING_MAX == 5
    assert_refused(answer, 400, "BAD_REQUEST")
    assert "waiting for approval" in answer.json["error"]


async def test_decided_organizations_and_those_of_other_owners_do_not_count(world: World, ada: SignedInUser) -> None:
    for status in ("active", "suspended", "rejected"):
        world.member(world.organization(status, status=status), ada.id, "owner")
    for number in range(PENDING_MAX):
        world.member(world.organization(f"other-{number}", status="pending"), ada.id, "admin")

    assert (await create(ada)).status == 200


async def test_concurrent_creations_do_not_exceed_the_limit(world: World, ada: SignedInUser) -> None:
    answers = await at_once(*[partial(create, ada, f"org-{number}") for number in range(RACERS)])

    assert statuses_of(answers) == [200] * PENDING_MAX + [400] * (RACERS - PENDING_MAX)
    assert world.value("SELECT count(*) FROM organizations") == PENDING_MAX


class TestAutoApproval:
    """With automatic approval (GATEHOUSE_AUTO_APPROVE)."""

    @pytest.fixture
    def settings(self) -> Settings:
        """The settings with automatic approval."""
        return Settings(dev=True, auto_approve=True)

    async def test_a_new_organization_is_active_immediately(self, ada: SignedInUser) -> None:
        organization = (await create(ada)).json["organization"]

        assert organization["status"] == "active"
        assert (organization["approved_at"], organization["approved_by"]) == ("2026-02-03T04:05:06Z", None)

    async def test_the_limit_of_pending_organizations_does_not_apply(self, ada: SignedInUser) -> None:
        answers = [await create(ada, f"org-{number}") for number in range(PENDING_MAX + 1)]

        assert {answer.status for answer in answers} == {200}
