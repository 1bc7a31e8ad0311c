"""Takeovers: a stolen session changes the address of a founder and acts in their organization, until the undo.

Each takeover has an organization of its own, whose founder belongs to B as well, and so does the intruder's friend:
what the undo takes back is in that organization alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from tests.seeds import Numbers
from tests.tenants.giving import picked
from tests.tenants.model import Ended, Violation
from tests.tenants.neighbourhood import B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.builder import PASSWORD
from tests.world.directory import SCIM_JSON

HIJACKING = Story.HIJACKING
OUTLIVED: Final = "outlived a takeover"
NETWORK: Final = "127.0.0.1"
# What the intruder or the friend makes: the path, the body, and where the answer has the secret.
MADE: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("scim-tokens", {"name": "Directory"}, "token"),
    ("keys", {"name": "Key", "permissions": ["org.members.view"]}, "secret"),
    ("setup-links", {"parts": ["scim"], "expires_in_days": 7}, "url"),
    ("webhooks", {"name": "Hook", "url": "https://hooks.example/in", "events": ["user.joined"]}, "id"),
)
# What the intruder or the friend sets or lets in, and does with a directory's token.
OPENED: Final = ("keys", "address", "customer", "group")
ROLE_KEY: Final = {"kty": "RSA", "kid": "evil", "alg": "RS256", "use": "sig", "n": "u" * 342, "e": "AQAB"}
EVIL_ADDRESS: Final = "https://evil.example/in"
PATCH: Final = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
numbers = Numbers()


@dataclass
class Takeover:
    """A founder whose address was changed with a stolen session, and what was done with it."""

    slug: str
    founder: str
    colleague: str
    friend: str
    token: str
    friend_token: str
    undo_token: str
    # Who acts in the organization: the friend once the ownership is theirs.
    is_passed_on: bool = False
    has_friend: bool = False
    # What was made, by the first word of its path.
    made: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    # The group of the directory that gives the role admin.
    group_id: UUID | None = None

    @property
    def path(self) -> str:
        """The path of the organization."""
        return f"/api/organizations/{self.slug}"

    @property
    def acting_token(self) -> str:
        """The access token of the one who has the ownership."""
        return self.friend_token if self.is_passed_on else self.token


@step(HIJACKING)
async def is_hijacked(hood: Neighbourhood) -> None:
    """A stolen session changes the address of a founder to the intruder's, who proves it."""
    number = next(numbers)
    slug = f"c-{number:05}"
    founder, colleague = f"founder@{slug}.example", f"colleague@{slug}.example"
    friend, thief = f"friend@{slug}-evil.example", f"thief@{slug}-evil.example"
    world, at_b = hood.world, hood.organizations[B].party.organization_id
    organization_id = world.organization(slug)
    ids = {email: world.user(email) for email in (founder, colleague, friend)}
    world.member(organization_id, ids[founder], "owner")
    world.member(organization_id, ids[colleague])
    for email in (founder, friend):
        world.member(at_b, ids[email])
    world.serve_customers(world.service(organization_id), "editor")
    group_id = _group_of_admins(hood, organization_id, ids[founder])
    evil = world.organization(f"{slug}-evil")
    world.member(evil, ids[friend], "owner")
    token = (await world.sign_in(founder, PASSWORD, address=NETWORK)).access_token
    friend_token = (await world.sign_in(friend, PASSWORD, address=NETWORK)).access_token
    asked = await hood.send("PATCH", "/api/user", {"email": thief}, token=token)
    assert asked.status == 200, asked.text
    [wish] = await hood.mails(thief, "verify_new_email")
    proved = await hood.send_form("/auth/verify-email", {"token": wish.values["token"]}, by=hood.eve)
    assert proved.status == 200, proved.text
    [notice] = await hood.mails(founder, "email_changed")
    hood.takeovers.append(
        Takeover(
            *(slug, founder, colleague, friend, token, friend_token),
            undo_token=notice.values["token"],
            group_id=group_id,
        )
    )


def _group_of_admins(hood: Neighbourhood, organization_id: UUID, founder_id: UUID) -> UUID:
    """Insert a group of the directory that gives the role admin by a rule of the founder, and has nobody in it."""
    world, now = hood.world, hood.world.clock()
    group_id = world.new_id()
    world.connection.execute(
        "INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)"
        " VALUES (%s, %s, 'Admins', %s, %s)",
        (group_id, organization_id, now, now),
    )
    world.connection.execute(
        "INSERT INTO group_rules (id, organization_id, place, group_id, role, made_by, created_at)"
        " VALUES (%s, %s, 1, %s, 'admin', %s, %s)",
        (world.new_id(), organization_id, group_id, founder_id, now),
    )
    return group_id


@step(HIJACKING)
async def hijacker_befriends(hood: Neighbourhood, pick: int, whole: bool) -> None:
    """Invite a friend as an admin, who accepts; and promote a colleague or not."""
    one: Takeover | None = picked(hood.takeovers, pick)
    if one is None or one.has_friend:
        return
    body = {"email": one.friend, "role": "admin"}
    invited = await hood.send("POST", f"{one.path}/invitations", body, token=one.token)
    accepted = await hood.send(
        "POST", "/api/invitations/accept", {"token": invited.json["token"]}, token=one.friend_token
    )
    assert accepted.status == 200, accepted.text
    one.has_friend = True
    if whole:
        path = f"{one.path}/members/{hood.user_id(one.colleague)}"
        assert (await hood.send("PATCH", path, {"role": "admin"}, token=one.token)).status == 200


@step(HIJACKING)
async def hijacker_passes_on(hood: Neighbourhood, pick: int, whole: bool) -> None:
    """Make the friend the owner, who removes the founder or not, and tries to erase the account."""
    one: Takeover | None = picked(hood.takeovers, pick)
    if one is None or one.is_passed_on or not one.has_friend:
        return
    founder_id = hood.world.value(
        "SELECT user_id FROM memberships m JOIN organizations o ON o.id = m.organization_id"
        " WHERE o.slug = %s AND m.role = 'owner'",
        one.slug,
    )
    body = {"new_owner_user_id": hood.user_id(one.friend)}
    passed_on = await hood.send("POST", f"{one.path}/transfer-ownership", body, token=one.token)
    assert passed_on.status == 200, passed_on.text
    one.is_passed_on = True
    if whole:
        removed = await hood.send("POST", f"{one.path}/members/{founder_id}", token=one.friend_token)
        assert removed.status in {200, 204}, removed.text
    await hood.send("DELETE", f"/api/privacy/forget/{founder_id}", token=one.friend_token)


@step(HIJACKING)
async def hijacker_makes(hood: Neighbourhood, pick: int, whole: bool, address: str) -> None:
    """Make something that opens by itself, or sends; which one hangs on what was drawn."""
    one: Takeover | None = picked(hood.takeovers, pick)
    if one is None:
        return
    word, body, secret = MADE[2 * (hood.addresses.index(address) % 2) + whole]
    answer = await hood.send("POST", f"{one.path}/{word}", body, token=one.acting_token)
    if answer.status == 200:
        one.made.append((word, answer.json[secret]))


@step(HIJACKING)
async def hijacker_opens(hood: Neighbourhood, pick: int, whole: bool, address: str) -> None:
    """Set where a service leads, let a customer in, or put the colleague among the admins with a directory's token."""
    one: Takeover | None = picked(hood.takeovers, pick)
    if one is None:
        return
    service, token = f"{one.path}/services/shop", one.acting_token
    match OPENED[2 * (hood.addresses.index(address) % 2) + whole]:
        case "keys":
            await hood.send("PATCH", service, {"jwks": {"keys": [ROLE_KEY]}}, token=token)
        case "address":
            await hood.send("PATCH", service, {"redirect_uris": [EVIL_ADDRESS]}, token=token)
        case "customer":
            await hood.send("POST", f"{service}/customers", {"organization": f"{one.slug}-evil"}, token=token)
            client_id = hood.world.value(
                "SELECT s.client_id FROM services s JOIN organizations o ON o.id = s.organization_id WHERE o.slug = %s",
                one.slug,
            )
            body = {"client_id": str(client_id)}
            await hood.send("POST", f"/api/organizations/{one.slug}-evil/products", body, token=one.friend_token)
        case _:
            made = await hood.send(
                "POST", f"{one.path}/scim-tokens", {"name": "Groups", "groups": "directory"}, token=token
            )
            if made.status != 200:
                return
            change = {"op": "add", "path": "members", "value": [{"value": hood.user_id(one.colleague)}]}
            await hood.send(
                "PATCH",
                f"/scim/v2/Groups/{one.group_id}",
                {"schemas": [PATCH], "Operations": [change]},
                token=made.json["token"],
            )


@step(HIJACKING)
async def intruder_is_locked_out(hood: Neighbourhood) -> None:
    """A stolen session invites a friend as an admin and sends a setup link; then the person locks the account."""
    slug, world = f"d-{next(numbers):05}", hood.world
    person, friend = f"person@{slug}.example", f"friend@{slug}-evil.example"
    organization_id = world.organization(slug)
    world.member(organization_id, world.user(person), "owner")
    world.user(friend)
    token = (await world.sign_in(person, PASSWORD, address=NETWORK)).access_token
    friend_token = (await world.sign_in(friend, PASSWORD, address=NETWORK)).access_token
    path = f"/api/organizations/{slug}"
    invited = await hood.send("POST", f"{path}/invitations", {"email": friend, "role": "admin"}, token=token)
    await hood.send("POST", f"{path}/setup-links", {"parts": ["scim"], "expires_in_days": 7}, token=token)
    assert (await hood.send("POST", "/api/user/lock", token=token)).status == 204
    accepted = await hood.send("POST", "/api/invitations/accept", {"token": invited.json["token"]}, token=friend_token)
    if accepted.status == 200:
        raise Violation(f"outlived {Ended.LOCK}", f"{friend} is an admin by an invitation of a locked account")
    if world.rows("SELECT FROM setup_links WHERE organization_id = %s", organization_id):
        raise Violation(f"outlived {Ended.LOCK}", "a setup link of a locked account is valid")


@step(HIJACKING)
async def victim_undoes(hood: Neighbourhood, pick: int) -> None:
    """The founder uses the link in the mailbox of the old address."""
    one: Takeover | None = picked(hood.takeovers, pick)
    if one is not None:
        await undo(hood, one)


async def undo(hood: Neighbourhood, one: Takeover) -> None:
    """Undo a takeover; afterwards nothing of it opens anything, and the founder owns the organization."""
    hood.takeovers.remove(one)
    page = await hood.send_form("/auth/undo-email-change", {"token": one.undo_token}, by=hood.bob)
    if page.status != 200:
        raise Violation("denied", f"the change of address of {one.founder} cannot be undone")
    for token in (one.token, one.friend_token):
        answer = await hood.send("GET", f"{one.path}/members", token=token)
        if answer.status == 200:
            raise Violation(OUTLIVED, f"a session reads the members of {one.slug} after the undo")
    for word, secret in one.made:
        if await _opens(hood, one, word, secret):
            raise Violation(OUTLIVED, f"something of {one.path}/{word} was made in the takeover, and works")
    _require_closed(hood, one)
    await _require_regained(hood, one, page.text)
    await _require_kept(hood, one)


def _require_closed(hood: Neighbourhood, one: Takeover) -> None:
    """The service leads nowhere and has no customer, and nobody is in the group of admins."""
    [(keys, addresses, customers, members)] = hood.world.rows(
        """
        SELECT s.jwks, s.redirect_uris,
               (SELECT count(*) FROM service_customers c WHERE c.service_id = s.id),
               (SELECT count(*) FROM directory_group_members m WHERE m.organization_id = o.id)
        FROM   services s
        JOIN   organizations o ON o.id = s.organization_id
        WHERE  o.slug = %s
        """,
        one.slug,
    )
    if keys is not None or EVIL_ADDRESS in addresses:
        raise Violation(OUTLIVED, f"the service of {one.slug} has keys or an address of the takeover")
    if customers:
        raise Violation(OUTLIVED, f"an organization that the takeover let in uses the service of {one.slug}")
    if members:
        raise Violation(OUTLIVED, f"a token of the takeover has put somebody into a group of {one.slug}")


async def _opens(hood: Neighbourhood, one: Takeover, word: str, secret: str) -> bool:
    match word:
        case "scim-tokens":
            headers = {"Accept": SCIM_JSON}
            return (await hood.send("GET", "/scim/v2/Users", token=secret, headers=headers)).status == 200
        case "keys":
            return (await hood.send("GET", f"{one.path}/members", headers={"X-Api-Key": secret})).status == 200
        case "setup-links":
            return bool(
                hood.world.rows(
                    "SELECT FROM setup_links s JOIN organizations o ON o.id = s.organization_id WHERE o.slug = %s",
                    one.slug,
                )
            )
        case _:
            return bool(hood.world.rows("SELECT FROM webhooks WHERE id = %s AND is_active", secret))


async def _require_regained(hood: Neighbourhood, one: Takeover, page: str) -> None:
    """The founder gets in with a new password, owns the organization, and belongs to B as before."""
    token = page.partition("/auth/reset-password?token=")[2].partition('"')[0]
    body = {"token": token, "new_password": hood.bob.password}
    assert (await hood.send("POST", "/api/auth/reset-password", body)).status == 200
    signed_in = await hood.send("POST", "/api/auth/login", {"email": one.founder, "password": hood.bob.password})
    if signed_in.status != 200:
        raise Violation("denied", f"{one.founder} cannot sign in after the undo")
    listed = await hood.send("GET", "/api/organizations", token=signed_in.json["access_token"])
    roles = {item["organization"]["slug"]: item["membership"]["role"] for item in listed.json}
    if roles != {one.slug: "owner", hood.organizations[B].slug: "member"}:
        raise Violation("denied", f"{one.founder} has the roles {roles} after the undo")


async def _require_kept(hood: Neighbourhood, one: Takeover) -> None:
    """The colleague has the role of before, and the friend what B gave."""
    found = hood.world.rows(
        """
        SELECT o.slug, u.email, m.role, m.suspended_at IS NULL
        FROM   memberships m
        JOIN   users u ON u.id = m.user_id
        JOIN   organizations o ON o.id = m.organization_id
        WHERE  u.email = ANY (%s)
        """,
        [one.colleague, one.friend],
    )
    at_b = hood.organizations[B].slug
    if not {(one.slug, one.colleague, "member", True), (at_b, one.friend, "member", True)} <= set(found):
        raise Violation("taken away", f"after the undo the colleague and the friend have {found}")
    answer = await hood.send("POST", f"{hood.organizations[B].path}/select", {}, token=one.friend_token)
    if answer.status != 200:
        raise Violation("taken away", f"{one.friend} cannot select {at_b} after the undo")
