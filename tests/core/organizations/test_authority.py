"""What the maker of a credential or of a rule could do, as a value."""

from __future__ import annotations

import pytest

from core.organizations.access import Capability, capabilities_of
from core.organizations.authority import Authority

OWNER = Authority(role="owner", permissions=None)
# What custom roles allow.
SALES = frozenset({Capability.SERVICES_VIEW})
WIDER = SALES | {Capability.WEBHOOKS_MANAGE}
ALLOWED = {
    "owner": capabilities_of("owner", None),
    "admin": capabilities_of("admin", None),
    "member": capabilities_of("member", None),
    "sales": SALES,
    "support": SALES,
}


def given_by(authority: Authority) -> set[str]:
    """Return the roles that a maker could give."""
    return {role for role, allowed in ALLOWED.items() if authority.may_give(role, allowed)}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ((), {"member"}),
        (("member",), {"member"}),
        (("sales",), {"member", "sales"}),
        (("admin",), {"member", "admin"}),
        (("admin", "sales"), {"member", "admin", "sales"}),
    ],
)
def test_what_a_link_makes_gives_the_roles_of_the_link_and_member_alone(
    roles: tuple[str, ...], expected: set[str]
) -> None:
    allowed = frozenset[Capability]().union(*(ALLOWED[role] for role in roles))

    assert given_by(Authority.of_link(roles, allowed)) == expected
    assert given_by(OWNER.limited_to(roles)) == expected


def test_what_a_key_makes_gives_what_the_key_covers_and_no_admin() -> None:
    everything = Authority.of_key(frozenset(Capability))
    narrow = Authority.of_key(frozenset({Capability.ORG_MEMBERS_MANAGE, Capability.INTEGRATIONS_MANAGE}))
    seller = Authority.of_key(SALES | {Capability.ORG_ROLES_MANAGE})

    assert given_by(everything) == {"member", "sales", "support"}
    assert given_by(narrow) == {"member"}
    assert given_by(seller) == {"member", "sales", "support"}
    assert not seller.may_give("wider", WIDER)


def test_what_a_key_makes_covers_nothing_that_gives_admins() -> None:
    everything = Authority.of_key(frozenset(Capability))

    assert everything.covers(Authority.of_key(SALES))
    assert OWNER.covers(everything)
    for other in (OWNER, Authority(role="admin", permissions=None), Authority.of("mighty", frozenset(Capability))):
        assert not everything.covers(other)


def test_a_role_that_allows_more_than_when_the_link_was_used_is_given_by_it_no_longer() -> None:
    made = Authority.of_link(["sales"], SALES)

    assert made.may_give("sales", SALES)
    assert not made.may_give("sales", WIDER)


def test_a_limit_makes_an_authority_narrower_and_never_wider() -> None:
    sales, both = OWNER.limited_to(["sales"]), OWNER.limited_to(["sales", "support"])

    assert OWNER.covers(sales)
    assert both.covers(sales)
    assert not sales.covers(OWNER)
    assert not sales.covers(both)
    assert not Authority.of_link(["sales"], SALES).covers(Authority.of_link(["admin"], ALLOWED["admin"]))
