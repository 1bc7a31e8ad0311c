"""Rate limits: the documented table by path, per client network or user, with a bounded number of buckets."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.live_processes import MemoryLiveProcesses
from core.errors import BadRequest, PayloadTooLarge, RateLimitExceeded, Refusal
from core.invitations.invitations import TooManyWaiting
from core.networks import limited_network
from core.rate_limits import RateLimit
from core.sessions.signing_keys import KeyPair
from core.sessions.tokens import TokenKind
from entrypoints.settings import Settings
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import public, signed_in
from entrypoints.web.serving.admission.limit_refusals import limit_of
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.rate_limiting import NoRateLimiter, RateLimiter
from entrypoints.web.serving.routes import Routes
from tests.web.probe import PEER, active_key, ask, make_installation, serving, with_keys


@dataclass
class Stopwatch:
    """A monotonic clock that the test controls."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


class Grant(Query):
    """A query in which only devices name their kind."""

    kind: str = ""


def limiting(*limits: RateLimit, path: str = "/limited", stopwatch: Stopwatch | None = None) -> Application:
    """Return an application with a route that has these limits."""
    routes = Routes("limited", "A route of this test.")

    @routes.get(path, limits=limits)
    @public
    async def answer(call: Call) -> None:
        """Answer."""

    @routes.get("/free")
    @public
    async def free(call: Call) -> None:
        """Answer without a limit."""

    return serving(routes, rate_limiter=RateLimiter(monotonic=stopwatch or Stopwatch()))


async def granted(application: Application, path: str = "/limited", *, peer: str = PEER, of: int = 30) -> int:
    """Send this many requests, and return how many were answered with 200."""
    return [(await ask(application, "GET", path, peer=peer)).status for _ in range(of)].count(200)


@pytest.mark.parametrize("limit", [limit for limit in RateLimit if limit.burst <= 20], ids=lambda limit: limit.name)
async def test_a_route_grants_its_burst_and_then_its_rate(limit: RateLimit) -> None:
    stopwatch = Stopwatch()
    application = limiting(limit, stopwatch=stopwatch)

    at_once = await granted(application)
    stopwatch.seconds += limit.seconds_per_request * 2
    later = await granted(application)

    assert (at_once, later) == (limit.burst, 2)


async def test_a_refused_request_returns_the_whole_seconds_until_the_next_is_granted() -> None:
    stopwatch = Stopwatch()
    application = limiting(RateLimit.FORGOT_PASSWORD, stopwatch=stopwatch)
    await granted(application, of=RateLimit.FORGOT_PASSWORD.burst)
    stopwatch.seconds += 0.5

    answer = await ask(application, "GET", "/limited")

    assert (answer.status, answer.code) == (429, "RATE_LIMIT_EXCEEDED")
    assert answer.headers["Retry-After"] == "12"
    stopwatch.seconds += 12
    assert await granted(application, of=1) == 1


async def test_a_refused_request_takes_nothing_from_the_bucket() -> None:
    stopwatch = Stopwatch()
    application = limiting(RateLimit.MFA_VERIFICATION, stopwatch=stopwatch)
    await granted(application, of=50)

    stopwatch.seconds += RateLimit.MFA_VERIFICATION.seconds_per_request

    assert await granted(application, of=1) == 1


@pytest.mark.parametrize("path", ["/auth/login", "/api/auth/login", "/auth/a/b", "/api/auth/a/b"])
async def test_all_routes_below_the_sign_in_paths_share_the_group_s_bucket(path: str) -> None:
    routes = Routes("limited", "Routes of this test.")

    @routes.get(path)
    @public
    async def one(call: Call) -> None:
        """Answer."""

    @routes.get("/auth/other")
    @public
    async def other(call: Call) -> None:
        """Answer."""

    application = serving(routes, rate_limiter=RateLimiter(monotonic=Stopwatch()))

    by_one = await granted(application, path, of=RateLimit.SIGN_IN_GROUP.burst - 1)
    by_other = await granted(application, "/auth/other")

    assert (by_one, by_other) == (RateLimit.SIGN_IN_GROUP.burst - 1, 1)


@pytest.mark.parametrize("path", ["/auth", "/api/auth", "/authors/x", "/api/authors/x", "/api/user", "/x/auth/y"])
async def test_other_paths_do_not_belong_to_the_group(path: str) -> None:
    assert await granted(limiting(path=path), path) == 30


async def test_the_tightest_limit_applies() -> None:
    application = limiting(RateLimit.LOGIN, path="/api/auth/login")

    assert await granted(application, "/api/auth/login") == RateLimit.LOGIN.burst


async def test_a_request_that_one_limit_refuses_takes_nothing_from_the_others() -> None:
    routes = Routes("limited", "Routes of this test.")

    @routes.get("/api/auth/login", limits=(RateLimit.LOGIN,))
    @public
    async def login(call: Call) -> None:
        """Answer with two limits."""

    @routes.get("/api/auth/other")
    @public
    async def other(call: Call) -> None:
        """Answer with the limit of the group alone."""

    application = serving(routes, rate_limiter=RateLimiter(monotonic=Stopwatch()))
    await granted(application, "/api/auth/login")

    left = await granted(application, "/api/auth/other")

    assert left == RateLimit.SIGN_IN_GROUP.burst - RateLimit.LOGIN.burst


def test_the_longest_wait_of_several_empty_buckets_is_returned() -> None:
    limiter = RateLimiter(monotonic=Stopwatch())
    limits = (RateLimit.MFA_VERIFICATION, RateLimit.RESEND_VERIFICATION)
    for _ in range(RateLimit.MFA_VERIFICATION.burst):
        limiter.take(limits, "network")

    with pytest.raises(RateLimitExceeded) as caught:
        limiter.take(limits, "network")

    assert caught.value.retry_after_seconds == 20
    assert caught.value.limit == "resend_verification"


async def test_refusals_are_counted_by_the_limit_and_by_what_it_counts() -> None:
    application = limiting(RateLimit.REGISTER)
    for _ in range(RateLimit.REGISTER.burst + 3):
        await ask(application, "GET", "/limited")
    await ask(application, "GET", "/free")

    lines = application.installation.metrics.exposition().decode().splitlines()

    assert [line for line in lines if line.startswith("sso_limit_refusals_total{") and not line.endswith(" 0.0")] == [
        'sso_limit_refusals_total{limit="register",reason="requests"} 3.0'
    ]


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (RateLimitExceeded(retry_after_seconds=1), ("other", "requests")),
        (RateLimitExceeded(retry_after_seconds=1).of("to_address", counts="mails"), ("to_address", "mails")),
        (TooManyWaiting(retry_after_seconds=1), ("waiting_invitations", "invitations")),
        (PayloadTooLarge(), ("body", "bytes")),
        (BadRequest(), None),
    ],
)
def test_a_limit_is_named_by_words_of_a_bounded_vocabulary(refusal: Refusal, expected: tuple[str, str] | None) -> None:
    assert limit_of(refusal) == expected


async def test_a_handler_applies_a_limit_that_depends_on_the_input() -> None:
    routes = Routes("limited", "A route of this test.")

    @routes.get("/exchange")
    @public
    async def exchange(call: Call, query: Grant) -> None:
        """Answer with a limit for devices."""
        if query.kind == "device":
            call.limit(RateLimit.DEVICE_FLOW)

    application = serving(routes, rate_limiter=RateLimiter(monotonic=Stopwatch()))

    of_devices = await granted(application, "/exchange?kind=device")
    of_others = await granted(application, "/exchange?kind=code")

    assert (of_devices, of_others) == (RateLimit.DEVICE_FLOW.burst, 30)


async def test_operational_routes_are_not_limited() -> None:
    routes = Routes("operational", "A route of this test.")

    @routes.get("/auth/health", is_operational=True)
    @public
    async def health(call: Call) -> None:
        """Answer."""

    assert await granted(serving(routes), "/auth/health") == 30


async def test_a_route_without_limits_is_not_limited_by_those_of_others() -> None:
    application = limiting(RateLimit.MFA_VERIFICATION)
    await granted(application)

    assert await granted(application, "/free") == 30


async def test_every_client_has_its_own_buckets() -> None:
    application = limiting(RateLimit.MFA_VERIFICATION)
    await granted(application, peer="198.51.100.1")

    assert await granted(application, peer="198.51.100.2") == RateLimit.MFA_VERIFICATION.burst


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:198.51.100.1", "198.51.100.1", True),
        ("::ffff:198.51.100.1", "::ffff:198.51.100.2", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
    ],
)
async def test_an_ipv6_client_is_its_64_bit_network(one: str, other: str, is_shared: bool) -> None:
    application = limiting(RateLimit.MFA_VERIFICATION)
    await granted(application, peer=one)

    left = await granted(application, peer=other)

    assert left == (0 if is_shared else RateLimit.MFA_VERIFICATION.burst)


@given(st.ip_addresses(v=6))
def test_every_ipv6_address_has_a_network(address: object) -> None:
    assert limited_network(str(address)).endswith("/64")


def test_the_number_of_buckets_is_bounded_and_the_least_recently_used_is_dropped_first() -> None:
    limiter = RateLimiter(monotonic=Stopwatch(), buckets_max=3)
    limits = (RateLimit.MFA_VERIFICATION,)
    for network in ["a", "b", "c", "a", "a", "d", "e"]:
        limiter.take(limits, network)

    assert limiter.bucket_count == 3
    with pytest.raises(RateLimitExceeded):
        limiter.take(limits, "a")


def test_a_refused_request_does_not_keep_a_bucket_from_being_dropped() -> None:
    limiter = RateLimiter(monotonic=Stopwatch(), buckets_max=1)
    limits = (RateLimit.MFA_VERIFICATION,)
    for _ in range(RateLimit.MFA_VERIFICATION.burst):
        limiter.take(limits, "a")

    limiter.take(limits, "b")

    limiter.take(limits, "a")


async def test_each_process_grants_its_share_as_soon_as_it_hears_of_others() -> None:
    processes, stopwatch = MemoryLiveProcesses(), Stopwatch()
    limiter = RateLimiter(monotonic=stopwatch, processes=processes)
    limits = (RateLimit.LOGIN,)

    def granted_to(network: str) -> int:
        for number in range(2 * RateLimit.LOGIN.burst):
            try:
                limiter.take(limits, network)
            except RateLimitExceeded:
                return number
        raise AssertionError("nothing was refused")

    alone = granted_to("a")
    processes.hear(4)
    shared = granted_to("a"), granted_to("b")
    with pytest.raises(RateLimitExceeded) as refused:
        limiter.take(limits, "b")
    # Three in a minute instead of ten.
    seconds = refused.value.retry_after_seconds
    stopwatch.seconds += 20.0

    assert (alone, shared, seconds, granted_to("b")) == (RateLimit.LOGIN.burst, (0, 3), 20, 1)


def signing_in(key_pairs: tuple[KeyPair, KeyPair], **options: Any) -> tuple[Application, Callable[..., str]]:
    """Return an application with two routes for users who are signed in, and a function that makes their tokens."""
    routes = Routes("limited", "Routes of this test.")

    @routes.get("/one")
    @signed_in
    async def one(call: Call) -> None:
        """Answer."""

    @routes.post("/other")
    @signed_in
    async def other(call: Call, body: Note) -> None:
        """Take a body."""

    installation = with_keys(make_installation(), [active_key(key_pairs[0])])

    def token(user: str, **claims: str) -> str:
        about = {"sub": user, "aud": installation.settings.base_url, "sid": str(uuid4()), **claims}
        value = installation.tokens.sign(
            about, kind=TokenKind.ACCESS, lifetime=timedelta(minutes=5), now=installation.clock()
        )
        return f"Bearer {value}"

    return serving(routes, installation=installation, **options), token


async def statuses_of(
    application: Application, authorization: str, *, of: int, method: str = "GET", path: str = "/one", **options: Any
) -> Counter[int]:
    """Send this many requests from as many addresses, and count the statuses of the answers."""
    headers = {"Authorization": authorization}
    return Counter(
        [
            (await ask(application, method, path, headers=headers, peer=f"198.51.100.{number}", **options)).status
            for number in range(of)
        ]
    )


async def test_a_user_has_a_hundred_requests_at_once_and_then_twenty_a_second_from_all_addresses_together(
    key_pairs: tuple[KeyPair, KeyPair],
) -> None:
    stopwatch = Stopwatch()
    application, token = signing_in(key_pairs, rate_limiter=RateLimiter(monotonic=stopwatch))

    at_once = await statuses_of(application, token("ann"), of=120)
    stopwatch.seconds += 1
    later = await statuses_of(application, token("ann"), of=30)

    assert (at_once, later) == ({200: 100, 429: 20}, {200: 20, 429: 10})


async def test_all_sessions_and_paths_of_a_user_share_the_limit_and_other_users_do_not(
    key_pairs: tuple[KeyPair, KeyPair],
) -> None:
    application, token = signing_in(key_pairs, rate_limiter=RateLimiter(monotonic=Stopwatch()))
    await statuses_of(application, token("ann"), of=60)

    by_other_session = await statuses_of(application, token("ann"), of=50, method="POST", path="/other", body={})
    by_other_user = await statuses_of(application, token("ben"), of=50)

    assert (by_other_session, by_other_user) == ({200: 40, 429: 10}, {200: 50})


async def test_an_impersonation_counts_for_the_impersonator(key_pairs: tuple[KeyPair, KeyPair]) -> None:
    application, token = signing_in(key_pairs, rate_limiter=RateLimiter(monotonic=Stopwatch()))
    await statuses_of(application, token("ann", impersonator="owner"), of=100)

    by_the_user = await statuses_of(application, token("ann"), of=1)
    by_another_impersonation = await statuses_of(application, token("ben", impersonator="owner"), of=1)
    by_the_impersonator = await statuses_of(application, token("owner"), of=1)

    assert (by_the_user, by_another_impersonation, by_the_impersonator) == ({200: 1}, {429: 1}, {429: 1})


async def test_a_user_over_the_limit_is_refused_before_the_body_arrives(key_pairs: tuple[KeyPair, KeyPair]) -> None:
    application, token = signing_in(key_pairs, rate_limiter=RateLimiter(monotonic=Stopwatch()))
    await statuses_of(application, token("ann"), of=100)

    headers = {"Authorization": token("ann"), "Content-Length": "1000", "Content-Type": "application/json"}
    answer = await ask(application, "POST", "/other", headers=headers, data=[b"{"], is_complete=False)

    assert (answer.status, answer.code) == (429, "RATE_LIMIT_EXCEEDED")
    assert answer.headers["Retry-After"] == "1"


async def test_a_forged_token_takes_nothing_from_the_user(key_pairs: tuple[KeyPair, KeyPair]) -> None:
    application, token = signing_in(key_pairs, rate_limiter=RateLimiter(monotonic=Stopwatch()))

    forged = await statuses_of(application, token("ann")[:-2], of=150)
    valid = await statuses_of(application, token("ann"), of=100)

    assert (forged, valid) == ({401: 150}, {200: 100})


async def test_the_setting_turns_all_rate_limits_off() -> None:
    routes = Routes("limited", "A route of this test.")

    @routes.get("/auth/login", limits=(RateLimit.MFA_SETUP,))
    @public
    async def login(call: Call) -> None:
        """Answer with a limit."""

    on, off = serving(routes), serving(routes, Settings(rate_limits=False))

    assert await granted(on, "/auth/login") == RateLimit.MFA_SETUP.burst
    assert await granted(off, "/auth/login") == 30


def test_a_limiter_that_is_off_keeps_no_buckets() -> None:
    limiter = NoRateLimiter()

    limiter.take((RateLimit.MFA_SETUP,), "network")

    assert limiter.bucket_count == 0


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.floats(0, 20)), max_size=60))
def test_no_client_is_ever_granted_more_than_burst_and_rate_allow(requests: list[tuple[str, float]]) -> None:
    stopwatch = Stopwatch()
    limiter = RateLimiter(monotonic=stopwatch)
    limit = RateLimit.MFA_VERIFICATION
    begin, granted_to = stopwatch.seconds, dict.fromkeys("abc", 0)
    for network, pause_seconds in requests:
        stopwatch.seconds += pause_seconds
        try:
            limiter.take((limit,), network)
        except RateLimitExceeded:
            continue
        granted_to[network] += 1

        allowed = limit.burst + (stopwatch.seconds - begin) / limit.seconds_per_request
        assert granted_to[network] <= allowed + 0.01
