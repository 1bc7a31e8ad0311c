"""What people do with the connections of organizations: signing in by them, and changing where they lead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from tests.application import Answer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.tenants import explaining, judging
from tests.tenants.acting import sign_in
from tests.tenants.explaining import Prediction
from tests.tenants.model import Ended, Held, Person, Violation, Way
from tests.tenants.neighbourhood import DEPUTY, A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.relying_party import CHALLENGE, REDIRECT_URI
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of

CONNECTING, LEAVING, SUSPENDING = Story.CONNECTING, Story.LEAVING, Story.SUSPENDING
# What a person may write into their own entry at the provider.
NICKNAME = "nickname"
CONTACT = "contact"
HOPS_MAX = 6


@step(CONNECTING, SUSPENDING, Story.SWITCHING)
async def links_by_connection(hood: Neighbourhood, address: str) -> None:
    """The owner of an address at work signs in by its connection; one who has an account signs in to it first."""
    person = hood.model.owner_of(address)
    of = next((name for name in hood.organizations if hood.is_at(name, address)), None)
    if person is None or of is None or (of == A and hood.is_redirected):
        return
    await link(hood, person, of, address)


async def link(hood: Neighbourhood, person: Person, of: str, address: str) -> Held | None:
    """Sign in by a connection, and to the account where it asks for that; None when it is refused."""
    held = await by_connection(hood, person, of, claims_of_address(address), Way.PERSON, password=person.password)
    if held is not None:
        hood.model.unlinked.discard((hood.organizations[of].slug, held.user_id))
    return held


@step(CONNECTING)
async def owner_links_by_connection(hood: Neighbourhood) -> None:
    """The owner of A links their account to the connection, unless they see that it leads elsewhere."""
    if hood.is_redirected:
        return
    rows = hood.world.rows(
        "SELECT email FROM users JOIN memberships ON user_id = users.id WHERE organization_id = %s AND role = 'owner'",
        hood.organizations[A].party.organization_id,
    )
    claims = claims_of_address(rows[0][0])
    await by_connection(hood, hood.employer, A, claims, Way.CONNECTION, password="correct horse battery")


@step(CONNECTING)
async def employer_signs_in(hood: Neighbourhood) -> None:
    """The provider of A asserts that it has signed in each person of an address there, also one who has left."""
    for one in hood.addresses:
        if hood.is_at(A, one):
            has_left = _has_left(hood, one)
            await by_connection(hood, hood.employer, A, claims_of_address(one), Way.CONNECTION)
            if has_left and _is_linked(hood, one):
                raise Violation("linked again", f"{one} has nothing of its employer, whose provider is linked again")


def _has_left(hood: Neighbourhood, address: str) -> bool:
    """Whether a person has left A, has nothing of it again, and gets nothing of it by signing in.

    An account whose address nobody has proved was never linked: the mail domain of A proves it.
    """
    at_a, user_id = hood.organizations[A], hood.user_id(address)
    if user_id is None or (at_a.slug, user_id) not in hood.model.unlinked or hood.joins_as or _is_linked(hood, address):
        return False
    if hood.world.rows("SELECT email_verified_at IS NULL FROM users WHERE id = %s", user_id) == [(True,)]:
        return False
    of_a = (at_a.party.organization_id, user_id)
    return not any(
        hood.world.rows(f"SELECT FROM {table} WHERE organization_id = %s AND user_id = %s", *of_a)
        for table in ("memberships", "service_users")
    )


def _is_linked(hood: Neighbourhood, address: str) -> bool:
    """Whether a connection of A has linked the account of an address."""
    return bool(
        hood.world.rows(
            """
            SELECT FROM identities i
            JOIN   users u ON u.id = i.user_id
            WHERE  i.organization_id = %s AND i.connection_id IS NOT NULL AND u.email = %s
            """,
            hood.organizations[A].party.organization_id,
            address,
        )
    )


@step(CONNECTING)
async def attacker_asserts(hood: Neighbourhood, address: str, whole: bool) -> None:
    """The attacker signs in as another person: by her own provider, or by what she has written into her entry."""
    at_a = hood.organizations[A]
    owner = f"owner{at_a.slug.split('-')[1].lstrip('0')}@{at_a.domain}"
    wanted = owner if whole else address
    await by_connection(hood, hood.eve, A, claims_of_address(wanted), Way.REDIRECTED, at_work=False)
    claims = {**claims_of_address(hood.eve.addresses[1]), NICKNAME: claims_of_address(wanted)["sub"]}
    # What the mapping does not name says nothing: then she is one of the people at work.
    way = Way.REDIRECTED if hood.is_redirected else Way.PERSON
    await by_connection(hood, hood.eve, A, claims, way)


@step(CONNECTING)
async def attacker_redirects_connection(hood: Neighbourhood, whole: bool) -> None:
    """The attacker changes where the connection of A leads: to her provider, or to an attribute that she writes."""
    if whole:
        await change(hood, hood.eve, {"issuer": hood.evil.url, "client_secret": CLIENT_SECRET})
    else:
        await change(hood, hood.eve, {"attribute_mapping": {"id": NICKNAME}})


@step(CONNECTING)
async def attacker_maps_address(hood: Neighbourhood, address: str) -> None:
    """The attacker lets another claim have the address, which people write themselves, and writes another person's."""
    await change(hood, hood.eve, {"attribute_mapping": {"email": CONTACT}})
    claims = {**claims_of_address(hood.eve.addresses[1]), "sub": f"sub-of-eve-as-{address}", CONTACT: address}
    way = Way.REDIRECTED if hood.is_redirected else Way.PERSON
    await by_connection(hood, hood.eve, A, claims, way)


@step(CONNECTING)
async def attacker_leads_domain(hood: Neighbourhood, address: str) -> None:
    """The attacker connects her own provider beside the connection of A, and leads the mail domain of A to it."""
    at_a, token = hood.organizations[A], await _own_token(hood, hood.eve)
    body = {
        "type": "oidc",
        "name": "Hers",
        "issuer": hood.evil.url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    }
    made = await hood.send("POST", f"{at_a.path}/upstream-providers", body, token=token, by=hood.eve)
    if made.status != 200:
        return
    [route] = (await hood.by_owner(A, "GET", "/domain-routes")).json["domain_routes"]
    path = f"{at_a.path}/domain-routes/{route['id']}"
    await hood.send("PATCH", path, {"provider_id": made.json["id"]}, token=token, by=hood.eve)
    claims, held = claims_of_address(address), None
    visitor = await entered(hood, hood.eve, made.json["id"], claims, password=None, at_work=False)
    if visitor is not None and visitor.has_session:
        held = hood.hold(hood.eve, await _tokens(hood, visitor, A), Way.REDIRECTED)
        await judging.judge(hood, held)
    # The owner sees it, and repairs it.
    await hood.by_owner(A, "PATCH", f"/domain-routes/{route['id']}", {"provider_id": at_a.connection_id})
    await hood.by_owner(A, "DELETE", f"/upstream-providers/{made.json['id']}")
    if held is not None:
        held.end(Ended.CONNECTION, "the connection of the attacker was deleted")


@step(CONNECTING)
async def holder_of_setup_link_redirects(hood: Neighbourhood) -> None:
    """The attacker got a setup link of A, and changes the issuer there."""
    made = await hood.by_owner(A, "POST", "/setup-links", {"parts": ["upstream"]})
    visitor = Visitor(hood.world.client, address=hood.eve.network)
    path = f"/app/setup/parts/upstream/{hood.organizations[A].connection_id}"
    link = urlsplit(made.json["url"]).path
    await visitor.submit(await visitor.open(link), link)
    page = await visitor.open(path)
    before = await _shown(hood)
    await visitor.submit(page, path, issuer=hood.evil.url, client_secret=CLIENT_SECRET)
    _changed(hood, before, await _shown(hood))


@step(CONNECTING, Story.GROUPING)
async def owner_sets_connection(hood: Neighbourhood, pick: int, whole: bool) -> None:
    """The owner of A disables and enables the connection, says as what its people join, or repairs where it leads."""
    match pick:
        case 0:
            answer = await change(hood, None, {"enabled": whole})
            if answer.status == 200 and not whole:
                _ended(hood, "the connection was disabled")
        case 1:
            # An owner who looks sees where it leads.
            if not hood.is_redirected:
                await change(hood, None, {"joins_as": DEPUTY if whole else ""})
        case _:
            repaired = {"issuer": hood.work.url, "client_secret": CLIENT_SECRET, "attribute_mapping": {}}
            await change(hood, None, repaired)


@step(CONNECTING)
async def works_elsewhere_while_enforced(hood: Neighbourhood, address: str) -> None:
    """A signs people in by its connection alone for a while, and one of them signs in to the service of B."""
    person = hood.model.owner_of(address)
    if person is None or not hood.is_at(A, address):
        return
    [route] = (await hood.by_owner(A, "GET", "/domain-routes")).json["domain_routes"]
    path = f"/domain-routes/{route['id']}"
    await hood.by_owner(A, "PATCH", path, {"enforced": True})
    held = await sign_in(hood, person, address, B)
    if held is not None and (await _shown(hood))["enabled"]:
        await _judge_elsewhere(hood, held)
    await hood.by_owner(A, "PATCH", path, {"enforced": False})


async def _judge_elsewhere(hood: Neighbourhood, held: Held) -> None:
    """Raise `Violation` when a session at B without the sign-in that A requires opens more than the service of B."""
    of_b = hood.organizations[B].party.organization_id
    session_id = claims_of(held.access_token)["sid"]
    if hood.world.rows("SELECT confined_to FROM sessions WHERE id = %s", session_id) != [(of_b,)]:
        raise Violation("opened elsewhere", f"{held}, which is not limited to the service")
    for path in (f"{hood.organizations[A].path}/select", "/api/user/mfa/setup"):
        answer = await hood.send("POST", path, {}, token=held.access_token, by=held.person)
        if answer.status == 200:
            raise Violation("opened elsewhere", f"{held}, which opened {path}")


async def change(hood: Neighbourhood, person: Person | None, fields: dict[str, Any]) -> Answer:
    organization, before = hood.organizations[A], await _shown(hood)
    token = organization.owner_token if person is None else await _own_token(hood, person)
    path = f"{organization.path}/upstream-providers/{organization.connection_id}"
    answer = await hood.send("PATCH", path, fields, token=token, by=person)
    if answer.status == 200:
        _changed(hood, before, answer.json)
    return answer


async def _shown(hood: Neighbourhood) -> dict[str, Any]:
    answer = await hood.by_owner(A, "GET", f"/upstream-providers/{hood.organizations[A].connection_id}")
    return answer.json


def _changed(hood: Neighbourhood, before: dict[str, Any], after: dict[str, Any]) -> None:
    hood.joins_as = after["joins_as"] or ""
    hood.is_redirected = after["issuer"] != hood.work.url or bool(after["attribute_mapping"])
    # What another claim named of groups counts no longer; people stay who they are.
    if before["attribute_mapping"].get("groups") != after["attribute_mapping"].get("groups"):
        hood.groups.named.clear()
    if any(_leading(before)[name] != value for name, value in _leading(after).items()):
        _ended(hood, "the connection leads to another provider")


def _leading(connection: dict[str, Any]) -> dict[str, Any]:
    """Return what says whom the provider of a connection signs in."""
    return {"issuer": connection["issuer"], "id": connection["attribute_mapping"].get("id")}


def _ended(hood: Neighbourhood, how: str) -> None:
    """Every session that began by the connection has ended, and what it named of groups counts no longer."""
    hood.groups.named.clear()
    for held in hood.model.sessions:
        is_of_a = hood.organizations[A].slug in {held.organization, held.customer}
        if is_of_a and held.way in {Way.CONNECTION, Way.REDIRECTED}:
            held.end(Ended.CONNECTION, how)


async def _own_token(hood: Neighbourhood, person: Person) -> str:
    """Return a token of the attacker's own account at A."""
    for address in reversed(person.addresses):
        body = {"email": address, "password": person.password}
        answer = await hood.send("POST", "/api/auth/login", body, by=person)
        if answer.status == 200:
            return answer.json["access_token"]
    return "none"


def claims_of_address(address: str) -> dict[str, Any]:
    """Return what a provider says of the person of an address."""
    return {"sub": f"sub-{address}", "email": address, NICKNAME: f"sub-{address}"}


async def by_connection(
    hood: Neighbourhood,
    person: Person,
    of: str,
    claims: dict[str, Any],
    way: Way,
    *,
    password: str | None = None,
    at_work: bool = True,
) -> Held | None:
    """Sign in by a connection, with what its provider says, and go on to the service of the organization.

    None when that is refused, or when the connection leads to the other provider.
    """
    predicted: list[Prediction] = []

    async def predict() -> None:
        # Which role the groups of this answer give is not known before.
        found = await _predict(hood, of, claims) if "groups" not in claims else None
        predicted.extend([found] if found is not None else [])

    connection_id = hood.organizations[of].connection_id
    visitor = await entered(hood, person, connection_id, claims, password=password, at_work=at_work, before=predict)
    if visitor is None or not visitor.has_session:
        _compare(hood, predicted, is_signed_in=False)
        return None
    answer = await _tokens(hood, visitor, of)
    held = hood.hold(person, answer, way)
    if _shows_suspended(hood, answer, of, claims["email"]):
        # The page that leads back is shown before the sign-in is judged.
        return None
    _compare(hood, predicted, is_signed_in=held is not None)
    # The employer asserts its own people, also while another claim has the address.
    is_of_a = way is Way.CONNECTION or not hood.is_redirected
    if held is not None and of == A and hood.joins_as and is_of_a:
        joined(hood, held.user_id, claims["email"])
    await judging.judge(hood, held)
    return held


async def entered(
    hood: Neighbourhood,
    person: Person,
    connection_id: str,
    claims: dict[str, Any],
    *,
    password: str | None,
    at_work: bool = True,
    before: Callable[[], Awaitable[None]] | None = None,
) -> Visitor | None:
    """Return a browser that has come back from the provider of a connection, and signed in to an account to link it.

    None when the connection is closed, or leads to the other provider. `before` runs before the provider answers.
    """
    visitor = Visitor(hood.world.client, address=person.network)
    begun = await visitor.send("GET", f"/auth/upstream?connection_id={connection_id}")
    if begun.status != 303:
        return None
    provider = hood.work if at_work else hood.evil
    location = begun.headers["Location"]
    if not location.startswith(provider.url):
        return None
    if before is not None:
        await before()
    provider.claims = claims
    page = await visitor.open(provider.sign_in(location))
    provider.codes.clear()
    provider.requests.clear()
    if not visitor.has_session and password is not None and has_form(page, "/app/sign-in"):
        methods = await visitor.submit(page, "/app/sign-in", email=claims["email"])
        if has_form(methods, "/app/sign-in/password"):
            await visitor.submit(methods, "/app/sign-in/password", password=password)
    return visitor


async def _predict(hood: Neighbourhood, of: str, claims: dict[str, Any]) -> Prediction | None:
    """Ask for the explanation of a sign-in by a connection; None where it cannot know which account is meant.

    It is asked about an account; a provider that asserts another person for the same one is beyond it.
    """
    organization = hood.organizations[of]
    if of == A and hood.is_redirected:
        return None
    linked = hood.world.rows(
        """
        SELECT i.subject, i.user_id
        FROM   identities i
        LEFT   JOIN users u ON u.id = i.user_id
        WHERE  i.connection_id = %s AND (i.subject = %s OR u.email = %s)
        """,
        organization.connection_id,
        claims["sub"],
        claims["email"],
    )
    if any(subject != claims["sub"] for subject, _ in linked):
        return None
    question = SignInQuestion(
        email=claims["email"],
        user_id=linked[0][1] if linked else None,
        service_slug=organization.party.service_slug,
        way=SignInWay.CONNECTION,
        connection_id=UUID(organization.connection_id),
    )
    return await explaining.predict(hood, question, of)


def _compare(hood: Neighbourhood, predicted: list[Prediction], *, is_signed_in: bool) -> None:
    for one in predicted:
        one.compare(hood, is_signed_in=is_signed_in)


def joined(hood: Neighbourhood, user_id: str, address: str) -> None:
    """Record the membership that the connection of A gives to people who have none."""
    organization = hood.organizations[A]
    if (organization.slug, user_id) not in hood.model.gifts:
        hood.model.give_membership(organization.slug, user_id, address, hood.joins_as)
        organization.users.append(user_id)


async def _tokens(hood: Neighbourhood, visitor: Visitor, of: str) -> Answer:
    """Go on to the service of an organization with the session of a browser; return the answer with the tokens."""
    party = hood.organizations[of].party
    query = urlencode(
        {
            "client_id": str(party.client_id),
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "scope": "openid email",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
    )
    answer = await visitor.send("GET", f"/auth/authorize?{query}")
    for _ in range(HOPS_MAX):
        target = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
        if target.startswith(REDIRECT_URI):
            code = parse_qs(urlsplit(target).query).get("code", [""])[0]
            return await party.redeem(code)
        if answer.status == 303:
            answer = await visitor.send("GET", target)
        elif has_form(answer, "/auth/authorize/allow"):
            answer = await visitor.submit(answer, "/auth/authorize/allow", is_followed=False)
        else:
            return answer
    return answer


def _shows_suspended(hood: Neighbourhood, page: Answer, of: str, address: str) -> bool:
    """Return whether a page says that a person may not come in, whose membership is deactivated."""
    if page.status != 403 or not any("may_enter" in form.fields for form in forms_of(page)):
        return False
    return hood.world.rows(
        "SELECT m.suspended_at IS NOT NULL FROM memberships m JOIN users u ON u.id = m.user_id"
        " WHERE m.organization_id = %s AND u.email = %s",
        hood.organizations[of].party.organization_id,
        address,
    ) == [(True,)]


def has_form(page: Answer, action: str) -> bool:
    return page.status == 200 and any(form.action == action for form in forms_of(page))
