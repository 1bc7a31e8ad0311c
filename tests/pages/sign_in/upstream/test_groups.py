"""The groups that a connection asserts, and the roles that rules give for them."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in.upstream import asserted
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.pages.sign_in.upstream.test_mailed_codes import ADA, appoint, assert_code_is_asked_for, mailed_code
from tests.service_provider import key_pair
from tests.world.openid_acme import Acme, command_line_token
from tests.world.saml_connection import saml_acme
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World

RULES = "/api/organizations/acme/group-rules"
CODE = "/app/sign-in/code"


@pytest.fixture
async def ruled(acme: Acme) -> Acme:
    """Acme, whose people join by the connection, with a role of its own for the group Sales."""
    acme.world.custom_role(acme.organization_id, "sales", "services.view", "analytics.view")
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")
    await acme.change(joins_as="member")
    await set_rules(acme, ("Sales", "sales"), ("Audit", "auditor"))
    return acme


async def set_rules(acme: Acme, *rules: tuple[str, str]) -> None:
    body = {"rules": [{"source": acme.connection_id, "group": group, "role": role} for group, role in rules]}
    answer = await acme.world.client.request("PUT", RULES, body=body, token=acme.owner.token)
    assert answer.status == 200, answer.text


async def sign_in(acme: Acme, **claims: Any) -> Any:
    """Sign Ada in anew, with what the provider says of her besides her address."""
    acme.visitor.cookies.clear()
    acme.provider.claims = {"sub": "ada", "email": ADA, **claims}
    return await acme.sign_in()


def role(acme: Acme) -> str | None:
    return acme.world.role_of(acme.organization_id, ADA)


async def test_a_newcomer_gets_the_role_of_their_group_and_it_opens_without_a_code(ruled: Acme) -> None:
    await sign_in(ruled, groups=["Staff", "Sales"])

    assert role(ruled) == "sales"
    assert ruled.visitor.has_session
    assert claims_of((await command_line_token(ruled))["access_token"])["sub"] == str(ruled.world.user_id(ADA))
    assert ruled.world.value("SELECT confined_to_role FROM sessions WHERE connection_id IS NOT NULL LIMIT 1") == "sales"


async def test_a_newcomer_whom_no_rule_fits_gets_the_role_to_join_with(ruled: Acme) -> None:
    await sign_in(ruled, groups=["sales", "\uff33ales"])

    assert role(ruled) == "member"
    assert ruled.world.value("SELECT count(*) FROM memberships WHERE role_source IS NOT NULL") == 0


async def test_a_rule_makes_nobody_a_member(ruled: Acme) -> None:
    await ruled.change(joins_as="")

    await sign_in(ruled, groups=["Sales"])

    assert role(ruled) is None


async def test_the_role_follows_what_the_provider_says_next(ruled: Acme, subtests: pytest.Subtests) -> None:
    await sign_in(ruled, groups=["Sales"])
    for title, claims, expected in (
        ("nothing changes nothing", {}, "sales"),
        ("no list changes nothing", {"groups": 7}, "sales"),
        ("too many changes nothing", {"_claim_names": {"groups": "src1"}}, "sales"),
        ("a mark of too many", {"hasgroups": True}, "sales"),
        ("too many to store", {"groups": [f"g{number}" for number in range(10_000)]}, "sales"),
        ("another group", {"groups": ["Audit"]}, "auditor"),
        ("a single group", {"groups": "Sales"}, "sales"),
        ("what is no name", {"groups": [7, None, "x" * 300, "Audit"]}, "auditor"),
        ("no group", {"groups": []}, "member"),
    ):
        with subtests.test(title):
            await sign_in(ruled, **claims)
            assert role(ruled) == expected


async def test_the_claim_is_named_by_the_connection(ruled: Acme, subtests: pytest.Subtests) -> None:
    for title, mapped, claims in (
        ("a name", "https://example.com/groups", {"https://example.com/groups": ["Sales"], "groups": ["Audit"]}),
        ("a path", "realm_access.roles", {"realm_access": {"roles": ["Sales"]}}),
    ):
        with subtests.test(title):
            await ruled.change(attribute_mapping={"groups": mapped})
            await sign_in(ruled, groups=[])
            await sign_in(ruled, **claims)
            assert role(ruled) == "sales"


@pytest.mark.parametrize("powerful", ["admin", "manager"])
async def test_a_powerful_role_takes_the_mailed_code_once(ruled: Acme, powerful: str) -> None:
    ruled.world.custom_role(ruled.organization_id, "manager", "org.settings.manage")
    await set_rules(ruled, ("Admins", powerful))

    page = await sign_in(ruled, groups=["Admins"])
    assert_code_is_asked_for(ruled, page)
    home = await ruled.visitor.submit(page, CODE, code=await mailed_code(ruled))

    assert (role(ruled), ADA in home.text) == (powerful, True)
    await sign_in(ruled, groups=["Admins"])
    assert ruled.visitor.has_session


async def test_what_another_source_gave_takes_the_mailed_code(ruled: Acme) -> None:
    await sign_in(ruled, groups=[])
    ruled.world.connection.execute(
        "UPDATE memberships SET role = 'sales', role_source = NULL WHERE user_id = %s", (ruled.world.user_id(ADA),)
    )

    ruled.world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE connection_id IS NOT NULL")

    assert_code_is_asked_for(ruled, await sign_in(ruled))


async def test_a_role_that_is_given_later_is_shown_to_no_session_that_does_not_open_it(ruled: Acme) -> None:
    await sign_in(ruled, groups=["Sales"])
    token = (await command_line_token(ruled))["access_token"]
    organization = {"Authorization": f"Bearer {token}"}
    await ruled.world.client.post("/api/organizations/acme/select", body={}, headers=organization)
    await set_rules(ruled, ("Sales", "admin"))

    profile = (await ruled.world.client.get("/api/user", token=token)).json

    assert role(ruled) == "admin"
    assert (profile["role"], profile["permissions"]) == (None, [])


class TestEnds:
    """Until when it counts what a connection said."""

    async def test_deleting_the_connection_takes_its_roles(self, ruled: Acme) -> None:
        await sign_in(ruled, groups=["Sales"])

        await ruled.owner.delete(ruled.path)

        assert role(ruled) == "member"
        assert ruled.world.value("SELECT count(*) FROM group_rules") == 0

    async def test_switching_it_off_takes_them_for_good(self, ruled: Acme) -> None:
        await sign_in(ruled, groups=["Sales"])

        await ruled.change(enabled=False)
        assert role(ruled) == "member"
        await ruled.change(enabled=True)
        await set_rules(ruled, ("Sales", "sales"))
        assert role(ruled) == "member"

        await sign_in(ruled, groups=["Sales"])
        assert role(ruled) == "sales"

    async def test_another_issuer_takes_them(self, ruled: Acme) -> None:
        await sign_in(ruled, groups=["Sales"])

        await ruled.change(issuer="https://login.other.example", client_secret="another")

        assert role(ruled) == "member"

    async def test_a_change_of_the_address_out_of_the_domain_takes_them(self, ruled: Acme) -> None:
        ada = await ruled.world.signed_in_user(ADA)
        ruled.world.member(ruled.organization_id, ada.id)
        ruled.world.connection.execute(
            """
            INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, scopes, linked_at,
                                    used_at, groups, confirmed_at)
            VALUES (gen_random_uuid(), %s, 'upstream', 'ada', %s, %s, '{}', now(), now(), '{Sales}', now())
            """,
            (ada.id, ruled.organization_id, ruled.connection_id),
        )
        await set_rules(ruled, ("Audit", "auditor"), ("Sales", "sales"))
        assert role(ruled) == "sales"

        await ruled.world.change_address(ada.token, "ada@private.example")

        assert ruled.world.role_of(ruled.organization_id, "ada@private.example") == "member"


class TestEditors:
    """Who may change a connection that gives roles by rules."""

    async def test_another_mapping_takes_the_right_to_give_the_roles(self, ruled: Acme) -> None:
        ruled.world.custom_role(ruled.organization_id, "technician", "integrations.manage")
        editor = await ruled.world.signed_in_user("technician@acme.example")
        ruled.world.member(ruled.organization_id, editor.id, "technician")

        for wish in (
            {"attribute_mapping": {"groups": "nickname"}},
            {"issuer": "https://login.other.example", "client_secret": "another"},
        ):
            assert (await ruled.wish(editor, **wish)).status == 403
        assert (await ruled.wish(editor, name="Work")).status == 200

    async def test_a_rule_that_makes_admins_takes_an_admin(self, ruled: Acme) -> None:
        ruled.world.custom_role(
            ruled.organization_id, "chief", "integrations.manage", "org.members.manage", "org.roles.manage"
        )
        await ruled.change(joins_as="")
        await set_rules(ruled, ("Admins", "admin"))
        editor = await ruled.world.signed_in_user("chief@acme.example")
        ruled.world.member(ruled.organization_id, editor.id, "chief")

        assert (await ruled.wish(editor, attribute_mapping={"groups": "nickname"})).status == 403


def test_a_list_is_bounded() -> None:
    many = [f"g{number}" for number in range(asserted.GROUPS_MAX + 1)]
    found = asserted.groups_in_attributes({"groups": many}, None)
    linked = asserted.groups_in_attributes({"http://schemas.microsoft.com/claims/groups.link": ["x"]}, None)
    mapped = asserted.groups_in_attributes({"memberOf": ["b", "a", "a"], "groups": ["c"]}, "memberOf")

    assert (found, linked) == (asserted.AssertedGroups(values=None), asserted.AssertedGroups(values=None))
    assert mapped == asserted.AssertedGroups(values=["a", "b"])
    assert asserted.groups_in_attributes({}, None) is None
    assert asserted.groups_in_claims({"a": "b"}, "a.b.c") is None


async def test_what_another_claim_said_is_forgotten_by_a_sign_in_that_is_under_way(ruled: Acme) -> None:
    await set_rules(ruled)
    await ruled.change(attribute_mapping={"groups": "nickname"})
    appoint(ruled, "auditor")
    page = await sign_in(ruled, nickname=["Admins"])
    assert_code_is_asked_for(ruled, page)

    await ruled.change(attribute_mapping={"groups": "groups"})
    await set_rules(ruled, ("Admins", "admin"))
    refused = await ruled.visitor.submit(page, CODE, code=await mailed_code(ruled))

    assert refused.status != 200
    assert role(ruled) == "auditor"


async def test_a_session_does_not_open_what_a_role_of_a_rule_allows_since(ruled: Acme) -> None:
    await sign_in(ruled, groups=["Sales"])
    token = (await command_line_token(ruled))["access_token"]
    powers = {"permissions": ["org.members.manage", "org.roles.manage"]}
    path = "/api/organizations/acme/invitations"

    changed = await ruled.owner.patch("/api/organizations/acme/roles/sales", powers)
    refused = await ruled.world.client.request(
        "POST", path, body={"email": "eve@example.org", "role": "member"}, token=token
    )

    assert (changed.status, refused.status) == (200, 403)


async def test_a_session_does_not_open_by_another_word_what_a_rule_gave(ruled: Acme) -> None:
    await sign_in(ruled, groups=["Sales"])
    opened = "SELECT DISTINCT confined_to_role FROM sessions WHERE connection_id IS NOT NULL"
    before = ruled.world.value(opened)

    await set_rules(ruled)

    assert role(ruled) == "member"
    assert (before, ruled.world.value(opened)) == ("sales", "member")


async def test_another_claim_and_another_key_in_one_change_forget_what_the_old_claim_said(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    idp = IdentityProvider(now=clock)
    acme = await saml_acme(world, visitor, idp, joins_as="member", attribute_mapping={"groups": "nickname"})
    acme = acme.of(attributes={"email": ADA, "nickname": "Admins"})
    await acme.sign_in()
    before = world.value("SELECT groups FROM identities")

    grown = acme.idp.metadata(key_pair("idp next"))
    changed = await acme.change(metadata_xml=grown, attribute_mapping={"groups": "groups"})
    rules = {"rules": [{"source": acme.connection_id, "group": "Admins", "role": "admin"}]}
    await world.client.request("PUT", RULES, body=rules, token=acme.owner.token)

    assert (before, changed.status) == (["Admins"], 200)
    assert world.value("SELECT groups FROM identities") is None
    assert world.role_of(acme.organization_id, ADA) == "member"
