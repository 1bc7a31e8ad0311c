"""What directories and identity providers say about groups, and the rules of A by which one group gives a role.

A person has the role by a rule while the owner's rule is there and the honest directory has put them into the group, or
the honest provider names the group. The attacker holds a SCIM token whose maker could give no role.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from tests.application import Answer
from tests.secret_watch import WATCH
from tests.tenants import connecting, giving
from tests.tenants.model import Violation, Way
from tests.tenants.neighbourhood import DEPUTY, A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.directory import PREFIX, SCIM_JSON
from tests.world.visitor import Visitor, forms_of

GROUPING, CONNECTING = Story.GROUPING, Story.CONNECTING
# What the provider calls the group whose members become deputies.
DEPUTIES = "deputies"
SETUP = "/app/setup/parts/groups"
PROVISIONING = "/app/setup/parts/scim"
DOMAIN_SETUP = "/app/setup/parts/domain"
TOKEN = re.compile(r"scim_live_[0-9A-Za-z]{6}_[0-9A-Za-z]{43}")
DEPUTY_RULES = """
    SELECT   id, organization_id, group_id, connection_id, asserted_group, made_by
    FROM     group_rules
    WHERE    role = %s
    ORDER BY organization_id, place
"""
TOKENS = "SELECT id FROM scim_tokens ORDER BY id"
REFUSED = frozenset({400, 403, 404})


@step(GROUPING, Story.ADMITTING)
async def owner_sets_rules(hood: Neighbourhood, pick: int) -> None:
    """The owner of A says which group gives a role, and makes no rule for a connection that leads elsewhere."""
    groups = hood.groups
    if groups.group_id is None:
        answer = await scim(hood, hood.organizations[A].directory_token, "POST", "/Groups", {"displayName": "Deputies"})
        groups.group_id = answer.json["id"] if answer.status == 201 else None
    by_group = pick in {0, 1} and groups.group_id is not None
    by_connection = pick in {0, 2} and not hood.is_redirected
    rules: list[dict[str, Any]] = []
    if by_group:
        rules.append({"source": "scim", "group": groups.group_id, "role": DEPUTY})
    if by_connection:
        rules.append({"source": hood.organizations[A].connection_id, "group": DEPUTIES, "role": DEPUTY})
    answer = await hood.by_owner(A, "PUT", "/group-rules", {"rules": rules})
    if answer.status == 200:
        groups.has_group_rule, groups.has_connection_rule = by_group, by_connection
    judge_roles(hood)


@step(GROUPING, Story.SERVING, Story.ADMITTING)
async def directory_groups(hood: Neighbourhood, address: str, whole: bool) -> None:
    """The honest directory of A puts a person into the group, or takes them out."""
    user_id, groups = hood.user_id(address), hood.groups
    if user_id is None or groups.group_id is None:
        return
    known = hood.known_id(A, user_id)
    operation = {"op": "add" if whole else "remove", "path": "members", "value": [{"value": known}]}
    answer = await patch(hood, hood.organizations[A].directory_token, operation)
    if answer.status == 200:
        groups.lingering.discard(user_id)
        if whole:
            groups.put[user_id] = True
        else:
            groups.put.pop(user_id, None)
    judge_roles(hood)


@step(GROUPING)
async def attacker_groups(hood: Neighbourhood, address: str, pick: int, whole: bool) -> None:
    """The attacker changes groups with her token: people, the whole list, its name, and at last the group itself."""
    groups, token = hood.groups, hood.organizations[A].weak_token
    user_id = hood.user_id(address)
    if user_id is None or groups.group_id is None:
        return
    known = hood.known_id(A, user_id)
    match pick, whole:
        case 0, _:
            answer = await patch(hood, token, {"op": "add", "path": "members", "value": [{"value": known}]})
            if answer.status == 200:
                groups.put.setdefault(user_id, False)
        case 1, False:
            answer = await patch(hood, token, {"op": "remove", "path": f'members[value eq "{known}"]'})
            if answer.status == 200 and groups.put.pop(user_id, None) is not None:
                groups.lingering.add(user_id)
        case 1, True:
            body = {"displayName": "Deputies", "members": [{"value": known}]}
            answer = await scim(hood, token, "PUT", f"/Groups/{groups.group_id}", body)
            if answer.status == 200:
                groups.lingering |= groups.put.keys() - {user_id}
                groups.put = {user_id: groups.put.get(user_id, False)}
        case _:
            answer = await scim(hood, token, "DELETE", f"/Groups/{groups.group_id}")
            if answer.status == 204:
                groups.lingering |= groups.put.keys()
                groups.group_id, groups.has_group_rule, groups.put = None, False, {}
    judge_roles(hood)


@step(GROUPING)
async def attacker_makes_rules(hood: Neighbourhood) -> None:
    """The attacker makes rules herself, at A and at B, and with a setup link of A."""
    for of in (A, B):
        organization = hood.organizations[of]
        for held in [one for one in hood.model.sessions if one.person is hood.eve and not one.is_dead][:3]:
            rules = [{"source": hood.organizations[A].connection_id, "group": "everybody", "role": DEPUTY}]
            path = f"{organization.path}/group-rules"
            answer = await hood.send("PUT", path, {"rules": rules}, token=held.access_token, by=hood.eve)
            if answer.status == 200 and held.way is not Way.CONNECTION and not is_deputy(hood, held.user_id):
                raise Violation("rule", f"{held} has made a rule at {organization.slug}")
    for adds in (True, False):
        await _make_rules_by_link(hood, adds=adds)


async def _make_rules_by_link(hood: Neighbourhood, *, adds: bool) -> None:
    """The attacker got a setup link of A for another role, and makes a rule for deputies or removes the owner's."""
    made = await hood.by_owner(A, "POST", "/setup-links", {"parts": ["groups"], "roles": ["member"]})
    link = urlsplit(made.json["url"]).path
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    await visitor.submit(await visitor.open(link), link)
    page = await visitor.open(SETUP)
    form = next((one for one in forms_of(page) if one.action == f"{SETUP}/check"), None)
    before = hood.world.rows(DEPUTY_RULES, DEPUTY)
    if form is not None and adds:
        fields = {**form.fields, "source": "scim", "group": "Deputies", "role": DEPUTY}
        await visitor.post(SETUP, fields)
        # One for the role of the link changes no other rule either.
        await visitor.post(SETUP, {**fields, "role": "member"})
    elif form is not None:
        for rule_id, *_ in before:
            await visitor.post(f"{SETUP}/{rule_id}/remove", form.fields)
    found = [rule for _, *rule in hood.world.rows(DEPUTY_RULES, DEPUTY)]
    if found != [rule for _, *rule in before]:
        raise Violation("rule", f"a setup link for member changed the rules for {DEPUTY}: {found}")
    await hood.by_owner(A, "DELETE", f"/setup-links/{made.json['id']}")
    judge_roles(hood)


@step(GROUPING)
async def attacker_provisions_by_link(hood: Neighbourhood, address: str) -> None:
    """The attacker got a setup link of A that names no role, and changes people and the group with a token it makes."""
    made = await hood.by_owner(A, "POST", "/setup-links", {"parts": ["scim", "groups"]})
    if made.status != 200:
        # A is being deleted, or has the maximum of links.
        return
    link = urlsplit(made.json["url"]).path
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    await visitor.submit(await visitor.open(link), link)
    page = await visitor.submit(await visitor.open(PROVISIONING), PROVISIONING)
    found = TOKEN.search(page.text)
    await hood.by_owner(A, "DELETE", f"/setup-links/{made.json['id']}")
    if found is None:
        return
    token = found[0]
    WATCH.add(token)
    await _reach_for_roles(hood, token)
    user_id, groups = hood.user_id(address), hood.groups
    if user_id is not None and groups.group_id is not None:
        operation = {"op": "add", "path": "members", "value": [{"value": hood.known_id(A, user_id)}]}
        if (await patch(hood, token, operation)).status == 200:
            groups.put.setdefault(user_id, False)
    token_id = hood.world.value("SELECT id FROM scim_tokens WHERE prefix = %s", token[: len(PREFIX)])
    await hood.by_owner(A, "DELETE", f"/scim-tokens/{token_id}")
    judge_roles(hood)


@step(GROUPING)
async def attacker_strays_with_link(hood: Neighbourhood) -> None:
    """The attacker got a setup link of A to the domain, and makes a token of the directory with it."""
    made = await hood.by_owner(A, "POST", "/setup-links", {"parts": ["domain"]})
    if made.status != 200:
        return
    link = urlsplit(made.json["url"]).path
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    await visitor.submit(await visitor.open(link), link)
    [form, *_] = forms_of(await visitor.open(DOMAIN_SETUP))
    before = hood.world.rows(TOKENS)
    await visitor.post(PROVISIONING, {"form_token": form.fields["form_token"]})
    if hood.world.rows(TOKENS) != before:
        raise Violation("rule", "a setup link to the domain has made a token of the directory")
    await hood.by_owner(A, "DELETE", f"/setup-links/{made.json['id']}")


async def _reach_for_roles(hood: Neighbourhood, token: str) -> None:
    """Try to take the access of everyone at A who is no plain member."""
    for user_id, role in hood.world.rows(
        "SELECT user_id::text, role FROM memberships WHERE organization_id = %s AND role <> 'member'",
        hood.organizations[A].party.organization_id,
    ):
        operation = {"op": "replace", "path": "active", "value": False}
        path = f"/Users/{hood.known_id(A, user_id)}"
        answer = await scim(hood, token, "PATCH", path, {"Operations": [operation]})
        suspended = "SELECT suspended_at IS NOT NULL FROM memberships WHERE organization_id = %s AND user_id = %s"
        if answer.status == 200 and hood.world.value(
            suspended, hood.organizations[A].party.organization_id, UUID(user_id)
        ):
            raise Violation("rule", f"a token of a setup link for member took the access of a {role}")


@step(GROUPING)
async def attacker_reaches_over(hood: Neighbourhood, address: str) -> None:
    """The attacker names groups and people of B at A."""
    groups, directory = hood.groups, hood.organizations[B].directory_token
    if groups.group_of_b is None:
        made = await scim(hood, directory, "POST", "/Groups", {"displayName": "Deputies"})
        groups.group_of_b = made.json["id"]
    for token in (hood.organizations[A].weak_token, hood.organizations[A].directory_token):
        for method, body in (("GET", None), ("PUT", {"displayName": "Mine"}), ("DELETE", None)):
            answer = await scim(hood, token, method, f"/Groups/{groups.group_of_b}", body)
            if answer.status not in REFUSED:
                raise Violation("another organization", f"A was answered {answer.status} to {method} of a group of B")
    rules = [{"source": "scim", "group": groups.group_of_b, "role": DEPUTY}]
    answer = await hood.by_owner(A, "PUT", "/group-rules", {"rules": rules})
    if answer.status not in REFUSED:
        raise Violation("another organization", "A made a rule for a group of B")
    user_id = hood.user_id(address)
    is_member = user_id is not None and bool(roles_of(hood, A, user_id))
    if user_id is None or is_member or groups.group_id is None:
        return
    operation = {"op": "add", "path": "members", "value": [{"value": user_id}]}
    answer = await patch(hood, hood.organizations[A].directory_token, operation)
    if answer.status not in REFUSED and hood.known_id(A, user_id) == user_id:
        raise Violation("another organization", f"{address} is in a group of A, which it is no member of")


@step(GROUPING, CONNECTING)
async def provider_names_groups(hood: Neighbourhood, address: str, pick: int, whole: bool) -> None:
    """The provider of A says of a person whether they are in the group, as they sign in, or it signs in as them."""
    # Who has no address there is Alice, who works at A.
    address = address if hood.is_at(A, address) else hood.alice.addresses[0]
    person = hood.model.owner_of(address)
    if person is None or hood.is_redirected:
        return
    if hood.user_id(address) is None:
        await giving.scim_creates(hood, A, address, True)
    claims = {**connecting.claims_of_address(address), "groups": [DEPUTIES] if whole else []}
    if pick == 0:
        await connecting.by_connection(hood, hood.employer, A, claims, Way.CONNECTION)
    else:
        await connecting.by_connection(hood, person, A, claims, Way.PERSON, password=person.password)
    for user_id, named in hood.world.rows(
        "SELECT user_id::text, coalesce(groups, '{}') FROM identities WHERE connection_id = %s AND subject = %s",
        hood.organizations[A].connection_id,
        claims["sub"],
    ):
        if (DEPUTIES in named) == whole:
            hood.groups.named[user_id] = whole
    judge_roles(hood)


@step(GROUPING, CONNECTING)
async def attacker_names_groups(hood: Neighbourhood, whole: bool) -> None:
    """The attacker names the group of herself: at her provider, or in an attribute that she leads the connection to."""
    claims = connecting.claims_of_address(hood.eve.addresses[1])
    if whole:
        await connecting.attacker_redirects_connection(hood, True)
        hers = {**claims, "groups": [DEPUTIES]}
        await connecting.by_connection(
            hood, hood.eve, A, hers, Way.REDIRECTED, password=hood.eve.password, at_work=False
        )
    else:
        await connecting.change(hood, hood.eve, {"attribute_mapping": {"groups": connecting.NICKNAME}})
        hers = {**claims, connecting.NICKNAME: DEPUTIES, "groups": []}
        await connecting.by_connection(hood, hood.eve, A, hers, Way.PERSON, password=hood.eve.password)
    judge_roles(hood)


def is_deputy(hood: Neighbourhood, user_id: str) -> bool:
    """Return whether a person may have the role by what was said of them."""
    groups = hood.groups
    by_group = groups.has_group_rule and groups.put.get(user_id, False)
    by_connection = groups.has_connection_rule and groups.named.get(user_id, False)
    return by_group or by_connection or user_id in groups.lingering


def judge_roles(hood: Neighbourhood) -> None:
    """Raise `Violation` when a rule gave the role to an account that neither the directory nor the provider named."""
    for (user_id,) in hood.world.rows(
        "SELECT user_id::text FROM memberships WHERE organization_id = %s AND role = %s AND role_source IS NOT NULL",
        hood.organizations[A].party.organization_id,
        DEPUTY,
    ):
        if not is_deputy(hood, user_id):
            raise Violation(
                "rule", f"{hood.address_of(user_id)} is {DEPUTY} by a rule, and is in no group that gives it"
            )
        hood.explained.add("a role by a rule")


def roles_of(hood: Neighbourhood, of: str, user_id: str) -> list[Any]:
    """Return the role of an account in an organization, if it has one."""
    return hood.world.rows(
        "SELECT role FROM memberships WHERE organization_id = %s AND user_id = %s",
        hood.organizations[of].party.organization_id,
        UUID(user_id),
    )


async def patch(hood: Neighbourhood, token: str, operation: dict[str, Any]) -> Answer:
    """Change the group of A."""
    return await scim(hood, token, "PATCH", f"/Groups/{hood.groups.group_id}", {"Operations": [operation]})


async def scim(hood: Neighbourhood, token: str, method: str, path: str, body: Any = None) -> Answer:
    """Send a request with the token of a directory that sends groups."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": SCIM_JSON} if body is not None else None
    return await hood.send(method, f"/scim/v2{path}", token=token, data=data, headers=headers)
