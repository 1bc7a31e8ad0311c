"""Which operations a setup link opens, by its parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core.organizations import link_callers
from core.organizations.access import Capability, Operation, implied_by
from core.organizations.authorization import OrganizationAccess
from core.organizations.link_callers import LinkCaller, MadeFor, Part, SetupLinkDead, SetupVisit, opened_for_customer
from core.organizations.setup_links import AVAILABLE
from core.secrets import hash_token
from core.sessions.caller_limits import CallerLimits, LinkLimits
from core.sessions.callers import Caller

MADE_FOR = MadeFor(
    customer_id=UUID(int=3),
    vendor_id=UUID(int=4),
    vendor_name="Acme",
    customer_name="Globex",
    service_name="Shop",
    return_url=None,
    reported_actor=None,
    is_allowed=True,
)


def link_of(*parts: Part, service_slug: str | None = None) -> LinkCaller:
    """Return the holder of a link with these parts, and nothing else about it."""
    nothing: Any = None
    return LinkCaller(
        link_id=UUID(int=1),
        parts=parts,
        roles=[],
        service_id=None,
        service_slug=service_slug,
        expires_at=nothing,
        organization=nothing,
        membership=nothing,
        custom_permissions=None,
        given_permissions={},
        key_permissions=None,
        maker=nothing,
    )


def test_the_pages_of_a_link_wear_the_brand_of_the_organization_whose_member_made_it() -> None:
    organization: Any = SimpleNamespace(id=UUID(int=2))
    own = replace(link_of(Part.SCIM), organization=organization)

    assert own.branded_id == organization.id
    assert replace(own, made_for=MADE_FOR).branded_id == MADE_FOR.vendor_id


@pytest.mark.parametrize("part", list(Part))
def test_a_part_opens_its_own_operations_alone(part: Part) -> None:
    link = link_of(part)

    for operation in Operation:
        if operation in part.operations:
            link.require(operation)
        else:
            with pytest.raises(SetupLinkDead):
                link.require(operation)


def test_no_operation_belongs_to_two_parts_of_an_organization_or_of_a_customer() -> None:
    of_organization = Counter(operation for part in AVAILABLE for operation in part.operations)
    # Those that only read of the other's rows are in two.
    of_customer = Counter(one for part in Part for one in opened_for_customer(part) if one.makes_credential)

    assert set(of_organization.values()) == {1}
    assert set(of_customer.values()) == {1}


def test_only_links_for_customers_have_the_part_of_mail_domains() -> None:
    assert set(Part) - set(AVAILABLE) == {Part.MAIL_DOMAIN}
    assert [part for part in Part if not opened_for_customer(part)] == [Part.SAML, Part.DOMAIN, Part.SIEM]


def test_a_part_opens_nothing_that_takes_more_than_the_part() -> None:
    beyond = {
        operation: operation.capabilities - implied_by(part.capabilities)
        for part in Part
        for operation in part.operations
        if not operation.capabilities <= implied_by(part.capabilities)
    }

    # Rules name groups, which members read.
    assert beyond == {Operation.GROUPS_READ: {Capability.ORG_MEMBERS_VIEW}}


def test_a_link_is_present_for_a_page_of_its_parts_alone() -> None:
    link = link_of(Part.DOMAIN)
    uow: Any = type("Uow", (), {"link_caller": link})()

    assert link_callers.present(uow) is link
    assert link_callers.present(uow, Operation.DOMAIN_READ) is link
    with pytest.raises(SetupLinkDead):
        link_callers.present(uow, Operation.SAML_READ)


@pytest.mark.parametrize(("roles", "given"), [([], ["member"]), (["admin"], ["admin"])])
def test_a_link_without_roles_gives_that_of_members(roles: list[str], given: list[str]) -> None:
    assert list(replace(link_of(Part.GROUPS), roles=roles).given_roles) == given


@pytest.mark.parametrize(
    ("key_permissions", "roles", "is_usable"),
    [
        (None, ["admin"], True),
        (["integrations.manage", "org.members.manage"], [], True),
        (["integrations.manage"], [], False),
        # What a key makes gives no admin, whatever it is allowed.
        (list(Capability), ["admin"], False),
        (list(Capability), ["sales"], True),
        (["integrations.manage", "org.members.manage", "org.roles.manage"], ["sales"], False),
    ],
)
def test_a_link_that_a_key_made_sets_and_gives_what_the_key_covers(
    key_permissions: list[str] | None, roles: list[str], is_usable: bool
) -> None:
    owner: Any = SimpleNamespace(role="owner")
    link = replace(
        link_of(Part.SCIM),
        roles=roles,
        membership=owner,
        given_permissions={"sales": ["billing.manage"]},
        key_permissions=key_permissions,
    )

    assert link.is_usable is is_usable


def test_a_link_that_a_key_made_has_no_capability_that_the_key_lacks() -> None:
    nothing: Any = None
    access = OrganizationAccess(
        caller=nothing, organization=nothing, membership=nothing, capabilities=frozenset(Capability)
    )
    link = link_of(Part.DOMAIN)
    narrow = replace(link, key_permissions=["org.settings.manage"])

    assert link.narrowed(nothing, access, Operation.DOMAIN_READ) == access
    assert narrow.narrowed(nothing, access, Operation.DOMAIN_READ).capabilities == {Capability.ORG_SETTINGS_MANAGE}


def test_a_link_without_a_service_serves_none() -> None:
    uow: Any = type("Uow", (), {"link_caller": link_of(Part.DOMAIN)})()

    with pytest.raises(SetupLinkDead):
        link_callers.on_service(uow, "acme", lambda *_arguments: None)


def test_a_visit_is_known_by_the_hash_of_its_cookie_and_has_no_name() -> None:
    visit = SetupVisit(cookie="gh-cookie-of-the-visit")

    assert (visit.token_hash, visit.prefix) == (hash_token("gh-cookie-of-the-visit"), "")
    assert "gh-cookie-of-the-visit" not in repr(visit)


def test_the_actor_of_what_a_link_does_is_the_link() -> None:
    account: Any = None
    link = LinkLimits(id=UUID(int=7), parts=["domain"], roles=[], service_id=None, visit_hash=b"")
    caller = Caller(account=account, session=account, place=account, limits=CallerLimits(link=link))

    assert (caller.actor, caller.actor_user_id) == (f"setup_link:{UUID(int=7)}", None)
