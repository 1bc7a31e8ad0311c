"""Why a person cannot sign in by a connection of their organization: the rule that is named is the one that refuses."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.platform import why_answers, why_asked
from core.platform.sign_in_checks import RuleVerdict, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import SignInExplanation
from core.sign_in.rules import Rule
from core.sign_in.upstream.connections import failures
from core.sign_in.upstream.provider_problems import ProviderProblem
from ports.unit_of_work import UnitOfWork
from tests.world.explaining import (
    check_of,
    explained_to_organization,
    explained_to_platform,
    logged_reason,
    refusal_by,
    walk_by,
)
from tests.world.openid_acme import Acme
from tests.world.signing_in import SignedInUser

ADA, BOB = "ada@acme.example", "bob@elsewhere.example"
BY_CONNECTION = SignInWay.CONNECTION


@pytest.fixture
async def root(acme: Acme) -> SignedInUser:
    """A platform owner."""
    return await acme.world.signed_in_platform_owner()


def execute(acme: Acme, statement: Any, *values: object) -> None:
    """Change the tables."""
    acme.world.connection.execute(statement, values)


async def explained(acme: Acme, root: SignedInUser, email: str = ADA, **question: Any) -> SignInExplanation:
    """Return what the platform reads about the way by the connection, to a service of the organization."""
    return await explained_to_platform(acme.world, root, "acme", email=email, way=BY_CONNECTION, **question)


async def test_a_new_person_with_an_address_of_the_domain_is_let_in(acme: Acme, root: SignedInUser) -> None:
    told = await explained(acme, root, service_slug=None)
    elsewhere = await explained(acme, root, BOB)

    await acme.sign_in(email=ADA)

    assert acme.visitor.has_session
    assert told.account is None
    assert refusal_by(told, BY_CONNECTION) == ("membership", "not_a_member")
    assert refusal_by(elsewhere, BY_CONNECTION) == ("mail_domain", "domain_not_proved")


async def test_a_connection_that_lets_people_join_makes_them_members(acme: Acme, root: SignedInUser) -> None:
    await acme.change(joins_as="member")

    told = await explained(acme, root)
    execute(acme, "UPDATE organizations SET max_users = 1")
    full = await explained(acme, root)
    await acme.sign_in(email=ADA)

    assert refusal_by(told, BY_CONNECTION) is None
    assert refusal_by(full, BY_CONNECTION) == ("seat", "organization_full")
    assert logged_reason() == "organization_full"


async def test_a_role_that_was_deleted_makes_no_member(acme: Acme, root: SignedInUser) -> None:
    acme.world.custom_role(acme.organization_id, "deputy", "audit_logs.view")
    await acme.change(joins_as="deputy")
    with_role = await explained(acme, root)
    execute(acme, "DELETE FROM organization_roles")

    without = await explained(acme, root)

    assert refusal_by(with_role, BY_CONNECTION) is None
    assert refusal_by(without, BY_CONNECTION) == ("membership", "not_a_member")


async def test_an_account_that_has_the_address_is_to_be_linked_once(acme: Acme, root: SignedInUser) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))

    told = await explained(acme, root)
    execute(acme, "UPDATE users SET email_verified_at = NULL WHERE email = %s", ADA)
    unproved = await explained(acme, root)

    assert check_of(walk_by(told, BY_CONNECTION), Rule.LINK).verdict is RuleVerdict.ASKS
    assert check_of(walk_by(unproved, BY_CONNECTION), Rule.LINK).verdict is RuleVerdict.PASSES
    assert (refusal_by(told, BY_CONNECTION), refusal_by(unproved, BY_CONNECTION)) == (None, None)


async def test_a_closed_account_that_is_not_linked_yet_is_opened_again_by_signing_in_to_it(
    acme: Acme, root: SignedInUser
) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    execute(acme, "UPDATE users SET closed_at = created_at WHERE email = %s", ADA)

    told = await explained(acme, root)

    assert refusal_by(told, BY_CONNECTION) is None


async def test_a_first_proof_of_a_disowned_address_opens_no_membership(acme: Acme, root: SignedInUser) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA, is_verified=False))
    execute(acme, "UPDATE users SET disowned_at = created_at WHERE email = %s", ADA)

    told = await explained(acme, root)

    assert refusal_by(told, BY_CONNECTION) == ("address_owned", "address_disowned")


@pytest.mark.parametrize(
    ("change", "rule", "reason"),
    [
        ("UPDATE upstream_connections SET enabled = false", "connection_open", "connection_closed"),
        ("UPDATE organizations SET status = 'suspended'", "connection_open", "connection_closed"),
        ("UPDATE users SET deactivated_at = created_at WHERE email LIKE 'ada%'", "activated", "deactivated"),
        ("UPDATE users SET closed_at = created_at WHERE email LIKE 'ada%'", "reopening", "closed"),
        (
            "UPDATE users SET email_verified_at = NULL WHERE email LIKE 'ada%'",
            "address_verified",
            "email_not_verified",
        ),
        ("UPDATE users SET email = 'ada@home.example' WHERE email LIKE 'ada%'", "affiliation", "not_of_organization"),
        (
            "INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)"
            " SELECT gen_random_uuid(), o.id, u.id, 'admin', u.created_at, u.created_at"
            " FROM users u, organizations o WHERE u.email LIKE 'ada%'",
            "address_confirmed",
            "address_not_confirmed",
        ),
    ],
)
async def test_a_linked_person_is_refused_by_the_rule_that_is_named(
    acme: Acme, root: SignedInUser, change: str, rule: str, reason: str
) -> None:
    await acme.sign_in(email=ADA)
    acme.visitor.cookies.clear()
    user_id = acme.world.user_id(ADA)
    location = await acme.depart()
    execute(acme, change)

    told = await explained_to_platform(acme.world, root, "acme", user_id=user_id, way=BY_CONNECTION)
    await acme.visitor.open(acme.provider.sign_in(location, email=ADA))

    assert refusal_by(told, BY_CONNECTION) == (rule, reason)
    assert not acme.visitor.has_session
    assert [attempt.reason for attempt in told.attempts][-1:] == [None]


async def test_a_required_sign_in_is_named_to_the_platform_and_to_its_own_organization(
    acme: Acme, root: SignedInUser
) -> None:
    ada = acme.world.user(ADA)
    acme.world.member(acme.organization_id, ada)
    bolt = acme.world.organization("bolt")
    acme.world.member(bolt, ada)
    keeper = await acme.world.signed_in_member(bolt, email="keeper@bolt.example")
    await acme.enforce()

    told = await explained_to_platform(acme.world, root, email=ADA, way=SignInWay.PASSWORD)
    own = await explained_to_organization(acme.world, acme.owner, email=ADA)
    other = await explained_to_organization(acme.world, keeper, "bolt", email=ADA, way=SignInWay.PASSWORD)
    execute(acme, "UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", ada)
    unconfirmed = await explained_to_organization(acme.world, keeper, "bolt", email=ADA, way=SignInWay.PASSWORD)
    own_unconfirmed = await explained_to_organization(acme.world, acme.owner, email=ADA, way=SignInWay.PASSWORD)

    required = ("single_sign_on", "sso_required")
    assert refusal_by(told) == refusal_by(own) == refusal_by(own_unconfirmed) == required
    # Bolt, another organization, is not refused by what Acme requires.
    assert refusal_by(other) is None
    checks = [check_of(walk_by(one, SignInWay.PASSWORD), Rule.SINGLE_SIGN_ON) for one in (told, own, other)]
    assert [check.required is not None and check.required.name for check in checks] == ["Acme", "Acme", False]
    assert check_of(walk_by(unconfirmed, SignInWay.PASSWORD), Rule.SINGLE_SIGN_ON).verdict is RuleVerdict.NOT_TOLD
    assert refusal_by(own, BY_CONNECTION) is None


async def test_a_new_person_has_to_take_the_connection_of_their_domain(acme: Acme, root: SignedInUser) -> None:
    await acme.enforce()
    made = await acme.owner.post(
        "/api/organizations/acme/upstream-providers",
        {
            "type": "oidc",
            "name": "Other",
            "issuer": acme.provider.url,
            "client_id": "other",
            "client_secret": "other-secret",
        },
    )
    assert made.status == 200, made.text

    told = await explained(acme, root)
    from_other = [
        walk.refusal for walk in told.walks if walk.connection is not None and walk.connection.name == "Other"
    ]

    assert len(told.walks) == 2
    assert from_other[0] is not None
    assert from_other[0].rule is Rule.SINGLE_SIGN_ON


async def test_why_sign_ins_by_the_connection_failed_is_told(acme: Acme, root: SignedInUser) -> None:
    await acme.world.installation.database.transact(
        failures.note, acme.organization_id, UUID(acme.connection_id), ProviderProblem.DECLINED, request_id="request"
    )

    told = await explained(acme, root)
    named = await explained(acme, root, connection_id=UUID(acme.connection_id))
    other = await explained(acme, root, connection_id=acme.organization_id)

    assert [problems.name for problems in told.problems] == ["Acme"]
    assert told.problems[0].failures[0].last_request_id == "request"
    assert named.problems == told.problems
    assert (other.walks, other.problems) == ((), ())


async def test_an_account_that_is_deleted_meanwhile_is_walked_by_no_connection(acme: Acme) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    question = SignInQuestion(email=ADA)

    def ask(uow: UnitOfWork) -> SignInExplanation:
        found = why_asked.named(uow, question)
        execute(acme, "DELETE FROM users WHERE email = %s", ADA)
        return why_answers.to_platform(uow, "acme", found, question, are_limits_on=True)

    told = await acme.world.installation.database.read(ask)

    assert {walk.way for walk in told.walks} == {SignInWay.PASSWORD, SignInWay.LINK, SignInWay.PASSKEY}
