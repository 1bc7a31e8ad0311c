"""Why a person cannot sign in: in each way, each reader learns the rule that refuses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.accounts import sign_in_failures
from core.accounts.sign_in_failures import FAILURES_FROM_ANYWHERE_MAX, FAILURES_FROM_NETWORK_MAX, WINDOW
from core.errors import Forbidden
from core.platform.sign_in_checks import RuleVerdict, SignInWay
from core.sign_in.rules import Rule
from ports.unit_of_work import UnitOfWork
from tests.world.builder import EMAIL, Service
from tests.world.explaining import (
    check_of,
    explained_to_organization,
    explained_to_platform,
    logged_reason,
    refusal_by,
    walk_by,
)
from tests.world.fixtures import saml
from tests.world.passkeys import Keyring
from tests.world.saml import SamlWorld
from tests.world.signing_in import SignedInUser
from tests.world.world import World

__all__ = ["saml"]

ACME: dict[str, Any] = {"org_slug": "acme"}
SHOP: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization with a service."""
    organization_id = world.organization("acme")
    world.service(organization_id, "shop")
    return organization_id


@pytest.fixture
async def owner(world: World, acme: UUID) -> SignedInUser:
    """The owner of Acme."""
    return await world.signed_in_member(acme, email="owner@example.com")


def execute(world: World, statement: Any, *values: object) -> None:
    """Change the tables."""
    world.connection.execute(statement, values)


def add_suspended(world: World, organization_id: UUID) -> None:
    world.member(organization_id, world.user())
    execute(world, "UPDATE memberships SET suspended_at = created_at WHERE user_id = %s", world.user_id(EMAIL))


def add_waiting(world: World, organization_id: UUID, change: Any) -> None:
    world.member(organization_id, world.user(), is_confirmed=False)
    execute(world, change, EMAIL)


DISOWNED = "UPDATE users SET disowned_at = created_at WHERE email = %s"
CHANGED = "UPDATE users SET changed_by_service_at = created_at WHERE email = %s"


def require_mfa(world: World, organization_id: UUID) -> None:
    execute(world, "UPDATE organizations SET mfa_required = true WHERE id = %s", organization_id)
    world.member(organization_id, world.user())


def set_profile(world: World, organization_id: UUID) -> None:
    world.user()
    execute(
        world,
        "UPDATE services SET security_profile = 'fapi2' WHERE organization_id = %s",
        organization_id,
    )


@pytest.mark.parametrize(
    ("prepare", "destination", "rule"),
    [
        (lambda _world, _id: None, {}, Rule.ACCOUNT),
        (lambda world, _id: world.user(is_active=False), {}, Rule.ACTIVATED),
        (lambda world, _id: world.user(password_hash=None), {}, Rule.CREDENTIAL),
        (lambda world, _id: world.user(is_verified=False), {}, Rule.ADDRESS_VERIFIED),
        (lambda world, _id: world.user(), {"org_slug": "nowhere"}, Rule.ORGANIZATION),
        (lambda world, _id: world.user(), ACME, Rule.MEMBERSHIP),
        (lambda world, _id: world.user(), {**ACME, "service_slug": "none"}, Rule.SERVICE),
        (add_suspended, ACME, Rule.MEMBERSHIP),
        (add_suspended, SHOP, Rule.NOT_SUSPENDED),
        (lambda world, id_: add_waiting(world, id_, DISOWNED), SHOP, Rule.ADDRESS_OWNED),
        (lambda world, id_: add_waiting(world, id_, CHANGED), SHOP, Rule.ADDRESS_OWNED),
        (require_mfa, SHOP, Rule.REQUIRED_SECOND_FACTOR),
        (require_mfa, ACME, Rule.REQUIRED_SECOND_FACTOR),
        (
            lambda world, id_: (world.user(), world.set_organization_status(id_, "suspended")),
            SHOP,
            Rule.ORGANIZATION_ACTIVE,
        ),
        (lambda world, _id: world.user(), SHOP, None),
        (lambda world, _id: world.user(), {}, None),
    ],
)
async def test_the_rule_that_is_named_is_the_one_that_refuses_a_password(
    world: World,
    root: SignedInUser,
    acme: UUID,
    prepare: Callable[[World, UUID], object],
    destination: dict[str, Any],
    rule: Rule | None,
) -> None:
    prepare(world, acme)

    explained = await explained_to_platform(
        world, root, destination.get("org_slug"), service_slug=destination.get("service_slug"), way=SignInWay.PASSWORD
    )
    answer = await world.log_in(**destination)

    refusal = walk_by(explained, SignInWay.PASSWORD).refusal
    assert (refusal.rule if refusal is not None else None) is rule
    assert (answer.status == 200) is (rule is None), answer.text
    published = refusal.reason.published if refusal is not None and refusal.reason is not None else None
    assert logged_reason() == published
    assert refusal is None or refusal.reason_text


async def test_a_service_with_a_security_profile_refuses_what_it_has_not_pushed(
    world: World, root: SignedInUser, acme: UUID
) -> None:
    set_profile(world, acme)

    explained = await explained_to_platform(world, root, "acme", service_slug="shop", way=SignInWay.PASSWORD)

    check = check_of(walk_by(explained, SignInWay.PASSWORD), Rule.SECURITY_PROFILE)
    assert (check.verdict, check.reason) == (RuleVerdict.DEPENDS, "other_way")
    assert refusal_by(explained) is None


async def test_a_second_factor_is_asked_for_and_satisfies_the_organization(
    world: World, root: SignedInUser, acme: UUID
) -> None:
    execute(world, "UPDATE organizations SET mfa_required = true")
    world.member(acme, world.user(has_mfa=True))

    explained = await explained_to_platform(world, root, "acme")

    walk = walk_by(explained, SignInWay.PASSWORD)
    assert check_of(walk, Rule.SECOND_FACTOR).verdict is RuleVerdict.ASKS
    assert check_of(walk, Rule.REQUIRED_SECOND_FACTOR).verdict is RuleVerdict.PASSES
    assert {one.way for one in explained.walks} == {SignInWay.PASSWORD, SignInWay.LINK, SignInWay.PASSKEY}


async def test_a_mailed_link_proves_the_address_first(world: World, root: SignedInUser, acme: UUID) -> None:
    add_waiting(world, acme, CHANGED)
    execute(world, "UPDATE users SET email_verified_at = NULL, mfa_enabled_at = created_at WHERE email = %s", EMAIL)

    explained = await explained_to_platform(world, root, "acme", service_slug="shop", way=SignInWay.LINK)

    assert refusal_by(explained, SignInWay.LINK) is None
    assert check_of(walk_by(explained, SignInWay.LINK), Rule.SECOND_FACTOR).verdict is RuleVerdict.PASSES


async def test_a_mailed_link_gives_the_account_to_the_reader_of_the_mailbox(
    world: World, root: SignedInUser, acme: UUID
) -> None:
    add_waiting(world, acme, CHANGED)
    execute(world, "UPDATE users SET mfa_enabled_at = created_at WHERE email = %s", EMAIL)

    explained = await explained_to_platform(world, root, "acme", service_slug="shop", way=SignInWay.LINK)

    assert check_of(walk_by(explained, SignInWay.LINK), Rule.SECOND_FACTOR).verdict is RuleVerdict.PASSES


async def test_a_proof_of_the_address_gives_nothing_to_one_that_was_taken_back(
    world: World, root: SignedInUser, acme: UUID
) -> None:
    user_id = world.user(is_verified=False)
    world.mail_domain(acme, EMAIL.partition("@")[2])
    execute(world, "UPDATE upstream_connections SET enabled = true, issuer = 'https://login.example.com'")
    world.link(acme, world.value("SELECT id FROM services"), user_id)
    execute(world, DISOWNED, EMAIL)

    explained = await explained_to_platform(world, root, "acme", service_slug="shop", way=SignInWay.CONNECTION)

    refusal = walk_by(explained, SignInWay.CONNECTION).refusal
    assert refusal is not None
    assert (refusal.rule, refusal.reason) == (Rule.ADDRESS_OWNED, "address_disowned")


@pytest.mark.parametrize(
    ("change", "rule"), [(DISOWNED, Rule.CREDENTIAL), ("DELETE FROM users WHERE email = %s", Rule.ACCOUNT)]
)
async def test_no_link_is_mailed(world: World, root: SignedInUser, change: str, rule: Rule) -> None:
    world.user()
    execute(world, change, EMAIL)

    explained = await explained_to_platform(world, root, way=SignInWay.LINK)

    refusal = walk_by(explained, SignInWay.LINK).refusal
    assert refusal is not None
    assert refusal.rule is rule


async def test_a_passkey_that_verifies_its_user_is_two_factors(
    world: World, root: SignedInUser, acme: UUID, keyring: Keyring
) -> None:
    await keyring.sign_up()
    world.member(acme, world.user_id(EMAIL))
    without = await explained_to_platform(world, root, "acme")
    await keyring.registered()
    execute(world, "UPDATE organizations SET mfa_required = true")

    explained = await explained_to_platform(world, root, "acme")
    execute(world, "UPDATE passkeys SET verifies_user = false")
    with_one = await explained_to_platform(world, root, "acme")

    assert refusal_by(without, SignInWay.PASSKEY) == ("credential", "wrong_passkey")
    assert refusal_by(explained, SignInWay.PASSKEY) is None
    assert refusal_by(with_one, SignInWay.PASSKEY) == ("required_second_factor", "second_factor_required")
    assert refusal_by(explained, SignInWay.PASSWORD) == ("required_second_factor", "second_factor_required")


async def test_an_application_by_saml_is_for_those_who_were_given_access(
    world: World, root: SignedInUser, saml: SamlWorld
) -> None:
    organization_id = world.organization("acme")
    service = await saml.service(organization_id, "acme", "shop")
    user_id = world.user()
    at_shop: dict[str, Any] = {"service_slug": "shop", "way": SignInWay.PASSWORD}

    stranger = await explained_to_platform(world, root, "acme", **at_shop)
    otherwise = await explained_to_platform(world, root, "acme", **at_shop, by_saml=False)
    world.link(organization_id, service.service_id, user_id)
    linked = await explained_to_platform(world, root, "acme", **at_shop)
    no_account = await explained_to_platform(world, root, "acme", **at_shop, email="nobody@example.com")

    assert refusal_by(stranger) == ("saml_admission", "not_admitted")
    assert refusal_by(otherwise) is None
    assert refusal_by(linked) is None
    assert refusal_by(no_account) == ("account", "unknown_account")


async def test_the_people_of_a_customer_were_given_access_to_an_application_by_saml(
    world: World, root: SignedInUser, saml: SamlWorld
) -> None:
    service = await saml.service(world.organization("acme"), "acme", "shop")
    customers = [world.organization(slug) for slug in ("globex", "initech")]
    for organization_id in customers:
        world.customer(Service(id=service.service_id, client_id=service.service_id), organization_id)
    user_id = world.user()
    at_shop: dict[str, Any] = {"service_slug": "shop", "way": SignInWay.PASSWORD}

    stranger = await explained_to_platform(world, root, "acme", **at_shop)
    world.member(customers[0], user_id)
    of_one = await explained_to_platform(world, root, "acme", **at_shop)
    world.member(customers[1], user_id)
    of_two = await explained_to_platform(world, root, "acme", **at_shop)

    assert refusal_by(stranger) == ("saml_admission", "not_admitted")
    assert refusal_by(of_one) is None
    assert refusal_by(of_two) is None


async def fail(world: World, count: int, network: str) -> None:
    """Record failed attempts for the address from a network, each of another moment."""

    def add(uow: UnitOfWork) -> None:
        for number in range(count):
            attempt_id = uow.randomness.new_id()
            mark = sign_in_failures.hash_address(uow, EMAIL)
            at = uow.now - number * timedelta(seconds=1)
            uow.sign_in_failures.add(attempt_id, mark, network, at=at, session_id=None)
            uow.sign_in_failures.fail(attempt_id)

    await world.installation.database.transact(add)


async def test_too_many_failures_refuse_until_the_oldest_of_them_leaves_the_window(
    world: World, root: SignedInUser
) -> None:
    world.user()
    await fail(world, FAILURES_FROM_NETWORK_MAX, "192.0.2.0/24")

    unknown = await explained_to_platform(world, root, way=SignInWay.PASSWORD)
    there = await explained_to_platform(world, root, way=SignInWay.PASSWORD, network="192.0.2.0/24")
    elsewhere = await explained_to_platform(world, root, way=SignInWay.PASSWORD, network="198.51.100.0/24")
    off = await explained_to_platform(world, root, way=SignInWay.PASSWORD, are_limits_on=False)

    until = world.clock() - (FAILURES_FROM_NETWORK_MAX - 1) * timedelta(seconds=1) + WINDOW
    check = check_of(walk_by(unknown, SignInWay.PASSWORD), Rule.FAILURES)
    assert (check.verdict, check.networks, check.until) == (RuleVerdict.DEPENDS, ("192.0.2.0/24",), until)
    assert refusal_by(unknown) is None
    assert refusal_by(there) == ("failures", "too_many_failures")
    assert check_of(walk_by(there, SignInWay.PASSWORD), Rule.FAILURES).until == until
    assert (refusal_by(elsewhere), refusal_by(off)) == (None, None)


async def test_too_many_failures_from_anywhere_refuse_every_network(
    world: World, root: SignedInUser, acme: UUID, owner: SignedInUser
) -> None:
    world.member(acme, world.user())
    for number in range(FAILURES_FROM_ANYWHERE_MAX // 5):
        await fail(world, 5, f"192.0.{number}.0/24")

    explained = await explained_to_platform(world, root, way=SignInWay.PASSWORD)
    told = await explained_to_organization(world, owner, way=SignInWay.PASSWORD)

    assert refusal_by(explained) == ("failures", "too_many_failures")
    assert refusal_by(told) == ("failures", "too_many_failures")


async def test_an_organization_is_not_told_where_attempts_were_made(
    world: World, acme: UUID, owner: SignedInUser
) -> None:
    world.member(acme, world.user())
    await fail(world, FAILURES_FROM_NETWORK_MAX, "192.0.2.0/24")

    told = await explained_to_organization(world, owner, way=SignInWay.PASSWORD)

    check = check_of(walk_by(told, SignInWay.PASSWORD), Rule.FAILURES)
    assert (check.verdict, check.networks) == (RuleVerdict.DEPENDS, ())


async def test_an_address_outside_of_the_context_is_answered_as_one_without_an_account(
    world: World, acme: UUID, owner: SignedInUser
) -> None:
    world.member(world.organization("bolt"), world.user(is_active=False))
    await fail(world, FAILURES_FROM_ANYWHERE_MAX, "192.0.2.0/24")
    await world.log_in()

    foreign = await explained_to_organization(world, owner)
    none = await explained_to_organization(world, owner, email="nobody@example.com")
    by_id = await explained_to_organization(world, owner, user_id=world.user_id(EMAIL))
    by_no_id = await explained_to_organization(world, owner, user_id=acme)

    assert foreign == none == by_id == by_no_id
    assert (foreign.account, foreign.attempts, foreign.problems) == (None, (), ())
    assert {refusal_by(foreign, way) for way in SignInWay} == {("account", "unknown_account")}
    [walk] = (await explained_to_organization(world, owner, way=SignInWay.LINK)).walks
    assert walk.way is SignInWay.LINK


@pytest.mark.parametrize(
    "state",
    [
        "deactivated_at = created_at",
        "closed_at = created_at",
        "email_verified_at = NULL",
        "mfa_enabled_at = created_at",
        "password_hash = NULL",
        "disowned_at = created_at",
        "changed_by_service_at = created_at",
    ],
)
async def test_of_a_person_who_has_confirmed_nothing_the_state_of_the_account_is_not_told(
    world: World, acme: UUID, owner: SignedInUser, state: Any
) -> None:
    world.member(acme, world.user(), is_confirmed=False)
    execute(world, "UPDATE organizations SET mfa_required = true")
    execute(world, "UPDATE sessions SET amr = '{pwd,otp,mfa}'")
    before = await explained_to_organization(world, owner)
    await world.log_in(password="wrong", **ACME)
    await fail(world, FAILURES_FROM_ANYWHERE_MAX, "192.0.2.0/24")
    execute(world, f"UPDATE users SET {state} WHERE email = %s", EMAIL)

    after = await explained_to_organization(world, owner)

    assert after == before
    assert after.account is not None
    assert not after.account.is_told
    assert {refusal_by(after, way) for way in (SignInWay.PASSWORD, SignInWay.LINK)} == {None}
    assert check_of(walk_by(after, SignInWay.PASSWORD), Rule.MEMBERSHIP).verdict is RuleVerdict.PASSES
    assert check_of(walk_by(after, SignInWay.PASSWORD), Rule.SECOND_FACTOR).verdict is RuleVerdict.NOT_TOLD


async def test_the_last_ten_attempts_come_with_their_reasons_and_requests(
    world: World, root: SignedInUser, acme: UUID, owner: SignedInUser
) -> None:
    world.member(acme, world.user())
    for _ in range(11):
        await world.log_in(password="wrong", **ACME)
    await world.log_in(password="wrong", org_slug="acme", service_slug="nowhere")

    told = await explained_to_organization(world, owner)
    explained = await explained_to_platform(world, root)

    assert len(told.attempts) == len(explained.attempts) == 10
    assert {attempt.reason for attempt in told.attempts} == {"wrong_password"}
    assert all(attempt.request_id for attempt in told.attempts)


async def test_who_may_ask(world: World, acme: UUID, owner: SignedInUser) -> None:
    member = await world.signed_in_member(acme, "member", "member@example.com")

    for by in (member, owner):
        with pytest.raises(Forbidden):
            await explained_to_platform(world, by)
    with pytest.raises(Forbidden):
        await explained_to_organization(world, member)
    told = await explained_to_organization(world, owner, email="member@example.com")

    assert told.account is not None
    assert told.account.is_told
