"""Four nodes behind a balancer: replaced one after the other under load, and what one knows of what another does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import jwt
import pytest

from core.accounts.sign_in_failures import FAILURES_FROM_NETWORK_MAX
from core.mail.limits import MailLimit
from core.rate_limits import RateLimit
from tests import proxies
from tests.clock import SettableClock
from tests.entrypoints.hook import open_hook
from tests.entrypoints.nodes import Balancer, Nodes, actors_down, at_all, is_polling, live_processes, load_on, wait_for
from tests.entrypoints.site import BASE_URL, Site
from tests.mail_server import PostOffice
from tests.processes import Answer, Service, Services
from tests.proxies import free_port
from tests.shown_text import shows
from tests.waiting import wait_until
from tests.world.builder import PASSWORD, Builder
from tests.world.fixtures import builder

__all__ = ["builder"]

# It starts eight servers, which takes seconds each; CI runs it.
pytestmark = pytest.mark.long

NODES = 4
OWNER = "owner@acme.example"
VICTIM = "victim@acme.example"
ACME = "/api/organizations/acme"
INVITED = "/app/organizations/acme/people/invited"
FEED = "/app/organizations/acme/audit/feed"
WARM_ANSWERS = 30
# Of a machine that other tests keep busy; nothing is refused on one that has some time.
OVERLOADED_SHARE_MAX = 0.01
# More than a form does by itself, and more than an organization may invite in an hour.
INVITATIONS = MailLimit.INVITATIONS_OF_ORGANIZATION.mails_max + 1
GUESSES = FAILURES_FROM_NETWORK_MAX + 6
WORKED_OFF_SECONDS_MAX = 120.0


@pytest.fixture
def clock() -> SettableClock:
    """The time of the servers, whose processes have no other."""
    return SettableClock(datetime.now(UTC))


@pytest.fixture
def post_office() -> Iterator[PostOffice]:
    with PostOffice().open() as opened:
        yield opened


@pytest.fixture
def nodes(services: Services, post_office: PostOffice) -> Nodes:
    """Four nodes, as if each had a machine of its own."""
    services.environment |= {
        "GATEHOUSE_BASE_URL": BASE_URL,
        "GATEHOUSE_RATE_LIMITS": "on",
        "GATEHOUSE_TRUSTED_PROXIES": "127.0.0.1/32",
        # Two checks of the balancer, and one more.
        "GATEHOUSE_DRAIN_SECONDS": "2",
        "GATEHOUSE_DEV": "on",
        "GATEHOUSE_OUTBOUND_ALLOW": "127.0.0.0/8",
        "GATEHOUSE_SMTP_URL": f"smtp://127.0.0.1:{post_office.port}?from=id@example.com",
    }
    nodes = Nodes(services, [free_port() for _ in range(NODES)])
    nodes.start()
    return nodes


@pytest.fixture
def balancer(nodes: Nodes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balancer]:
    folder: Path = tmp_path_factory.mktemp("haproxy")
    # Its unprivileged processes write there.
    folder.chmod(0o711)
    with proxies.running("haproxy", folder, [f"127.0.0.1:{port}" for port in nodes.ports]) as proxy:
        yield Balancer(proxy)


def test_four_nodes_work_as_one_and_are_replaced_under_load_with_no_bad_answer(
    nodes: Nodes, balancer: Balancer, builder: Builder, post_office: PostOffice
) -> None:
    acme_id = builder.organization("acme")
    builder.connection.execute("UPDATE organizations SET max_users = 1000 WHERE id = %s", (acme_id,))
    for email, role in ((OWNER, "owner"), (VICTIM, "member")):
        builder.member(acme_id, builder.user(email), role)
    wait_for(lambda: [live_processes(node) for node in nodes.running] == [NODES] * NODES)

    a_session_and_its_end_hold_at_all(nodes, balancer)
    guesses_are_counted_exactly(balancer)
    each_node_grants_its_share(nodes)
    with open_hook() as (url, received):
        entries_of_one_are_followed_at_all(nodes, balancer)
        begin_job(nodes, balancer, url)
        are_replaced_under_load(nodes, balancer, builder)
        work_is_done_once(builder, acme_id, post_office, received)
    a_killed_node_counts_no_more(nodes)


def a_session_and_its_end_hold_at_all(nodes: Nodes, balancer: Balancer) -> None:
    """A session of one node is good at all nodes; its end at one node is known to all at their next request."""
    token = balancer.sign_in(OWNER).json["access_token"]

    def ask(node: Service) -> Answer:
        return node.request("GET", "/api/user", headers={"Authorization": f"Bearer {token}"})

    before = at_all(nodes.running, ask)
    session_id = jwt.decode(token, options={"verify_signature": False})["sid"]
    ended = balancer.request("DELETE", f"/api/user/sessions/{session_id}", token=token)
    after = at_all(nodes.running, ask)

    assert [answer.status for answer in before] == [200] * NODES
    assert ended.status == 204
    assert [answer.status for answer in after] == [401] * NODES


def guesses_are_counted_exactly(balancer: Balancer) -> None:
    """Wrong passwords at the same time at any node are compared as often as the limit allows, and not once more."""

    def guess(number: int) -> int:
        # From an address of its own in one network, so that only this limit counts.
        return balancer.sign_in(VICTIM, "wrong horse battery", source=f"127.7.7.{number + 1}").status

    with ThreadPoolExecutor(NODES) as threads:
        statuses = Counter(threads.map(guess, range(GUESSES)))
    from_network, from_elsewhere = balancer.sign_in(VICTIM, source="127.7.7.250"), balancer.sign_in(VICTIM)

    assert statuses == {401: FAILURES_FROM_NETWORK_MAX, 429: GUESSES - FAILURES_FROM_NETWORK_MAX}
    assert (from_network.status, from_elsewhere.status) == (429, 200)


def each_node_grants_its_share(nodes: Nodes) -> None:
    """A limit of mere load is divided by four, and the refusal says when this node grants the next request."""
    limit, share = RateLimit.FORGOT_PASSWORD, RateLimit.FORGOT_PASSWORD.share(NODES)

    def ask(node: Service) -> list[Answer]:
        return [
            node.request(
                "POST",
                "/api/auth/forgot-password",
                headers={"X-Forwarded-For": "203.0.113.9"},
                body=b'{"email": "stranger@example.com"}',
            )
            for _ in range(limit.burst)
        ]

    with ThreadPoolExecutor(NODES) as threads:
        answers = [answer for of_node in threads.map(ask, nodes.running) for answer in of_node]
    granted = [answer.status for answer in answers].count(200)
    refused = [answer for answer in answers if answer.status == 429]

    assert (granted, len(refused)) == (NODES * share.burst, NODES * (limit.burst - share.burst))
    assert limit.burst <= granted < limit.burst + NODES
    waits = [
        int(answer.headers[name]) for answer in refused for name in answer.headers if name.lower() == "retry-after"
    ]
    assert len(waits) == len(refused)
    assert all(1 <= seconds <= share.seconds_per_request for seconds in waits)


def entries_of_one_are_followed_at_all(nodes: Nodes, balancer: Balancer) -> None:
    """The readers who follow the audit log at each node see what one node writes."""
    browser = Site(nodes.running[0])
    browser.sign_in(OWNER, PASSWORD)
    # A session of the first node.
    browsers = [Site(node, dict(browser.cookies)) for node in nodes.running]
    token = balancer.sign_in(OWNER).json["access_token"]

    with ThreadPoolExecutor(NODES) as threads:
        waiting = [threads.submit(one.open, f"{FEED}?position=0&action=organization.updated") for one in browsers]
        changed = nodes.running[1].request(
            "PATCH", ACME, headers={"Authorization": f"Bearer {token}"}, body=b'{"name": "Acme of four"}'
        )
        pages = [each.result() for each in waiting]

    assert changed.status == 200, changed.content
    assert [page.status for page in pages] == [200] * NODES
    assert all(b"organization.updated" in page.content or b"<tr" in page.content for page in pages), pages


def begin_job(nodes: Nodes, balancer: Balancer, hook: str) -> None:
    """Begin a job whose rows, events and mails are work for the actors of all nodes."""
    token = balancer.sign_in(OWNER).json["access_token"]
    webhook = {"name": "hook", "url": hook, "events": ["user.invited"]}
    made = balancer.request("POST", f"{ACME}/webhooks", webhook, token=token)
    assert made.status == 200, made.content
    browser = Site(nodes.running[2])
    browser.sign_in(OWNER, PASSWORD)
    addresses = "\n".join(f"guest-{number}@guests.example" for number in range(INVITATIONS))
    begun = browser.submit(browser.open(INVITED), INVITED, emails=addresses, role="member")
    assert begun.status == 200, begun.content


def are_replaced_under_load(nodes: Nodes, balancer: Balancer, builder: Builder) -> None:
    """Every node is replaced while clients work, and none of them gets a bad answer or none."""
    with load_on(balancer, OWNER) as load:
        load.more(WARM_ANSWERS)
        for number in range(NODES):
            nodes.stop(number)
            if number == 0:
                wait_for(lambda: {live_processes(node) for node in nodes.others(0)} == {NODES - 1})
            nodes.start_again(number)
        wait_for(lambda: {live_processes(node) for node in nodes.running} == {NODES})
        load.more(WARM_ANSWERS)

    overloaded = load.bad() & nodes.overloaded()
    assert (load.lost, load.bad() - overloaded) == ([], Counter())
    assert overloaded.total() <= OVERLOADED_SHARE_MAX * load.statuses.total()
    sessions = [jwt.decode(token, options={"verify_signature": False})["sid"] for token in load.tokens]
    [[kept]] = builder.rows("SELECT count(*) FROM sessions WHERE id = ANY (%s::uuid[])", sessions)
    [[people]] = builder.rows("SELECT count(*) FROM users WHERE email = ANY (%s)", load.registered)
    assert (kept, people) == (len(sessions), len(load.registered))
    assert [is_polling(node) for node in nodes.running].count(True) == 1
    assert [actors_down(node) for node in nodes.running] == [set[str]()] * NODES
    for node in nodes.ended:
        assert not shows(node.log, "Traceback")


def work_is_done_once(builder: Builder, acme_id: UUID, post_office: PostOffice, received: list[str]) -> None:
    """Each row of the job is one invitation, one mail and one webhook, and the limit on mails holds for all nodes."""
    invited = MailLimit.INVITATIONS_OF_ORGANIZATION.mails_max
    waiting = """
        SELECT (SELECT count(*) FROM mails WHERE state IN ('queued', 'routed'))
               + (SELECT count(*) FROM events WHERE position = 0)
               + (SELECT count(*) FROM webhook_deliveries WHERE next_retry_at IS NOT NULL)
        """
    wait_until(
        lambda: builder.value("SELECT count(*) FROM invitations") >= invited and builder.value(waiting) == 0,
        seconds_max=WORKED_OFF_SECONDS_MAX,
    )
    to_guests = Counter(mail.recipients for mail in post_office.received if "@guests.example" in mail.recipients[0])
    to_new = Counter(mail.recipients for mail in post_office.received if "@new.example" in mail.recipients[0])
    [[new]] = builder.rows("SELECT count(*) FROM users WHERE email LIKE '%%@new.example'")
    [[entries]] = builder.rows(
        "SELECT count(*) FROM audit_entries WHERE organization_id = %s AND action = 'user.invited'", acme_id
    )

    assert builder.value("SELECT count(*) FROM invitations") == entries == invited
    assert (len(to_guests), set(to_guests.values())) == (invited, {1})
    assert (len(to_new), set(to_new.values())) == (new, {1})
    assert (len(received), len(set(received))) == (invited, invited)


def a_killed_node_counts_no_more(nodes: Nodes) -> None:
    """A node that dies without a word is noticed by the end of its session."""
    nodes.running[0].kill()

    wait_for(lambda: {live_processes(node) for node in nodes.others(0)} == {NODES - 1})
