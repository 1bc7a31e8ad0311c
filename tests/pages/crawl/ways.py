"""Every way to a page that no link leads to, for organizations and for the platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from core.events.events import EventType
from core.mail import mail
from core.secrets import hash_token
from core.sign_in.upstream.connections.failures import SHOWN_MAX
from core.sign_in.upstream.provider_problems import ProviderProblem
from entrypoints.pages.console.frame import ROWS_SHOWN
from tests.pages.crawl.connections import insert_failure
from tests.pages.crawl.ground import NEW_PASSWORD, Ground
from tests.pages.crawl.organizations import FULL
from tests.pages.crawl.people import insert_session, open_in_browser
from tests.pages.crawl.receivers import insert_event
from tests.pages.crawl.services import SERVICE
from tests.pages.crawl.spider import Spider
from tests.pages.crawl.values import NAME, RIGHT_TO_LEFT, UNBROKEN
from tests.pages.crawl.ways_of_accounts import (
    changes_of_address,
    locks,
    mailed_links,
    passwords,
    registrations,
    required_connections,
    required_second_factors,
    second_factors_of_accounts,
)
from tests.pages.crawl.ways_of_customers import adoptions, codes_for_addresses, owners_links, setups_of_customers
from tests.pages.crawl.ways_of_services import authorizations, devices, domains, saml_sign_ins, sandbox
from tests.world.visitor import Visitor, forms_of


async def invitations(ground: Ground) -> None:
    """People are invited: one without an account, one with it, and one who is added."""
    rows = ground.full.rows
    ground.user("invited")
    for name in ("stranger", "invited", "joining"):
        rows.add(
            "invitations",
            email=ground.email(name),
            role="member",
            status="pending",
            token_hash=hash_token(f"token-{name}"),
            proof_hash=hash_token(f"proof-{name}"),
            expires_at=rows.ago(days=-3),
            service_ids=[ground.full.service_id],
            message=NAME,
        )
        link = f"?token=token-{name}&proof=proof-{name}"
        if name != "joining":
            await ground.look(f"/invitations/accept{link}", f"/app/invitations/accept{link}")
    address = "/app/invitations/accept?token=token-joining&proof=proof-joining"
    await ground.hostile.owner.visitor.open(address)
    visitor = ground.visitor()
    page = await visitor.open(address)
    await visitor.submit(page, "/app/invitations/accept", by="new_password", password="short", name=NAME * 9)
    await visitor.submit(page, "/app/invitations/accept", by="new_password", password=NEW_PASSWORD, name=NAME)
    for number in range(2):
        membership_id = ground.rows.clock_id()
        user_id = ground.user(f"added{number}")
        ground.full.rows.add("memberships", id=membership_id, user_id=user_id, role="member", confirmed_at=None)
        ground.rows.add(
            "one_time_tokens",
            token_hash=hash_token(f"confirm{number}"),
            purpose="confirm_membership",
            user_id=user_id,
            email=ground.email(f"added{number}"),
            data={"org_slug": FULL, "membership_id": str(membership_id)},
            expires_at=ground.rows.ago(days=-9),
        )
        await ground.look(f"/app/invitations/confirmation?token=confirm{number}")


async def setups(ground: Ground) -> None:
    """A person without an account opens a setup link for every part."""
    ground.full.rows.add(
        "setup_links",
        parts=["saml", "scim", "upstream", "domain", "siem", "groups"],
        service_id=ground.full.service_id,
        secret_hash=hash_token("setup"),
        expires_at=ground.rows.ago(days=-3),
        roles=["member"],
    )
    visitor = ground.visitor()
    await visitor.submit(await visitor.open("/app/setup/setup"))
    tokens, groups = "/app/setup/parts/scim", "/app/setup/parts/groups"
    await visitor.submit(await visitor.open(tokens), tokens, name=RIGHT_TO_LEFT)
    await visitor.submit(await visitor.open(groups), f"{groups}/check", source="scim", group=NAME, role="member")
    spider = Spider("the holder of a setup link", visitor, ground.recorder)
    await spider.crawl("/app/setup")
    ground.pressed_last.append(spider)


async def impersonations(ground: Ground) -> None:
    """A platform owner acts as the owner."""
    session_id = insert_session(
        ground.rows,
        ground.hostile.owner.id,
        impersonator_id=ground.hostile.root.id,
        impersonator_session_id=ground.hostile.root.session_id,
        expires_at=ground.rows.ago(minutes=-30),
    )
    visitor = Visitor(ground.world.client, cookies=dict(ground.hostile.root.visitor.cookies))
    visitor.cookies["gatehouse_impersonation"] = open_in_browser(ground.rows, session_id)
    for path in ("/app/account", "/app/account/closing", f"/app/organizations/{FULL}/settings"):
        await visitor.open(path)


async def mails(ground: Ground) -> None:
    """The mailbox of the development mode keeps mails."""
    database = ground.world.installation.database
    visitor = ground.visitor()
    fields = {"email": ground.email("kept"), "password": NEW_PASSWORD, "name": NAME}
    await visitor.submit(await visitor.open("/app/register"), "/app/register", fields)
    for one in await database.transact(mail.claim, 100):
        await database.transact(mail.record_kept, mail=one)
    await visitor.open("/dev/mailbox")


async def forms(ground: Ground) -> None:
    """The full organization's forms with what they take, where the answer is a page of its own."""
    owner, organization = ground.hostile.owner.visitor, f"/app/organizations/{FULL}"
    service = f"{organization}/services/{SERVICE}"
    rules = f"{organization}/people/groups/rules"
    await owner.submit(await owner.open(rules), f"{rules}/check", source="scim", group=NAME, role="admin")
    removal = f"{organization}/people/{ground.hostile.states['nameless']}/remove"
    await owner.submit(await owner.open(removal), removal, note=NAME)
    hooks = f"{organization}/webhooks/new"
    await owner.submit(await owner.open(hooks), hooks, name="More", url="https://hooks.invalid/", sets="security")
    keys, links = f"{organization}/keys", f"{organization}/setup-links"
    await owner.submit(await owner.open(keys), keys, name=UNBROKEN + "2", permissions="services.view", days="")
    await owner.submit(await owner.open(links), links, parts="domain", days="7")
    await owner.submit(await owner.open(f"{service}/tryout"), f"{service}/tryout")
    preview = f"{organization}/branding/preview"
    page = await owner.open(f"{organization}/branding")
    fields = next(form.fields for form in forms_of(page) if form.action == f"{organization}/branding")
    for one in ({**fields, "primary_color": "nothing"}, {}):
        await owner.post(preview, one)
    identities = "/app/account/identities"
    await owner.post(f"{identities}/link", {**forms_of(await owner.open(identities))[0].fields, "provider": "websuite"})
    portal = f"/app/account/subscriptions/{ground.full.service_id}/portal"
    await owner.submit(await owner.open("/app/account/subscriptions"), portal)


async def failures(ground: Ground) -> None:
    """Each reason of a failed sign-in by a connection is read; its page shows the newest."""
    rows, address = ground.full.rows, f"/app/organizations/{FULL}/sign-in/connections"
    of_full = "SELECT min(id::text)::uuid FROM upstream_connections WHERE organization_id = %s"
    connection_id = ground.world.value(of_full, ground.full.id)
    problems = list(ProviderProblem)
    for first in range(0, len(problems), SHOWN_MAX):
        rows.connection.execute(b"DELETE FROM upstream_failures WHERE connection_id = %s", (connection_id,))
        for problem in problems[first : first + SHOWN_MAX]:
            insert_failure(rows, connection_id, problem)
        await ground.hostile.owner.visitor.open(f"{address}/{connection_id}")


async def deliveries(ground: Ground) -> None:
    """A delivery of each event is read; their page shows the newest."""
    rows, kinds = ground.full.rows, list(EventType)
    webhook_id = ground.world.value(
        "SELECT min(id::text)::uuid FROM webhooks WHERE organization_id = %s", ground.full.id
    )
    for first in range(0, len(kinds), ROWS_SHOWN):
        rows.clock.advance(timedelta(seconds=1))
        for number, kind in enumerate(kinds[first : first + ROWS_SHOWN], first):
            rows.add(
                "webhook_deliveries",
                webhook_id=webhook_id,
                event_id=insert_event(rows, kind, 1_000 + number),
                event_type=kind.value,
                delivered=True,
            )
        await ground.hostile.owner.visitor.open(f"/app/organizations/{FULL}/webhooks/{webhook_id}/deliveries")


async def rules(ground: Ground) -> None:
    """The platform asks for the role of a member: a rule gives it, its maker may not, and the directory may not."""
    rows, user_id = ground.full.rows, ground.hostile.states["protected"]
    [group_id] = [one for [one] in ground.world.rows("SELECT group_id FROM group_rules WHERE place = 1")]
    rows.add("group_rules", place=3, group_id=group_id, connection_id=None, asserted_group=None, role="member")
    given = "UPDATE memberships SET role = %s, role_source = %s, role_group = %s WHERE user_id = %s"
    for role, role_source, maker_role, made_by in (
        ("admin", "scim", "owner", ground.hostile.owner.id),
        ("member", None, "member", ground.hostile.owner.id),
        ("member", None, "owner", None),
    ):
        group = str(group_id) if role_source is not None else None
        for change, *values in (
            (given, role, role_source, group, user_id),
            ("UPDATE directory_authorities SET maker_role = %s WHERE organization_id = %s", maker_role, ground.full.id),
            ("UPDATE group_rules SET made_by = %s WHERE organization_id = %s", made_by, ground.full.id),
        ):
            rows.connection.execute(change.encode(), values)
        await ground.hostile.root.visitor.open(f"/app/platform/why?email={user_id}&organization={FULL}")
    # And why one of a service that is closed to strangers.
    query = f"email={user_id}&organization={FULL}&service={SERVICE}-mobile"
    await ground.hostile.root.visitor.open(f"/app/platform/why?{query}")
    # And one of a service with a security profile, which depends on how the service asks.
    profiled = ground.party("profiled")
    ground.world.connection.execute(
        b"UPDATE services SET security_profile = 'fapi2' WHERE id = %s", (profiled.service_id,)
    )
    query = f"email={ground.email('bare0')}&organization={profiled.slug}&service={profiled.service_slug}"
    await ground.hostile.root.visitor.open(f"/app/platform/why?{query}")


async def others(ground: Ground) -> None:
    """What stands alone: pages of few, parts that scripts load, and a page that does not exist."""
    owner, organization = ground.hostile.owner.visitor, f"/app/organizations/{FULL}"
    service = f"{organization}/services/{SERVICE}"
    for path in ("/app/nowhere", f"{service}/first-sign-in", f"{organization}/audit/feed"):
        await owner.open(path)
    for path in (f"{organization}/search", "/app/account/search"):
        await owner.open(f"{path}/options?q=passkeys")
    await ground.hostile.root.visitor.open("/app/platform/search/options?q=pass")
    await ground.hostile.root.visitor.open("/app/platform/mail?state=sent")
    await owner.open(f"{organization}/roles/unused/delete")
    await owner.open(f"{service}/plans/{ground.full.plan_id}/buy")
    await owner.open(f"{service}-desktop/access")


WAYS: Final[tuple[Callable[[Ground], Awaitable[None]], ...]] = (
    registrations,
    passwords,
    changes_of_address,
    locks,
    mailed_links,
    second_factors_of_accounts,
    required_second_factors,
    required_connections,
    invitations,
    setups,
    setups_of_customers,
    owners_links,
    codes_for_addresses,
    adoptions,
    sandbox,
    impersonations,
    authorizations,
    devices,
    saml_sign_ins,
    domains,
    mails,
    forms,
    failures,
    deliveries,
    rules,
    others,
)


async def take(ground: Ground) -> None:
    """Take every way."""
    for way in WAYS:
        ground.recorder.way = way.__name__
        await way(ground)
