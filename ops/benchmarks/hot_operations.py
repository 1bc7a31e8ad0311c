"""The ten hottest operations, which the check against a release compares.

They are what an installation answers most often, and each takes a way through the code that no other one takes. To
compare another operation, add a row to `HOT_OPERATIONS`; it has to work with that release too.

What was won since the release is kept: each row says what the operation has cost since then, as a multiple of what it
cost in the release, and the check allows little more than that.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, cycle
from typing import Final, TypeAlias

from ops.benchmarks import people
from ops.benchmarks.client import bearer
from ops.benchmarks.targets import SCIM_USERS, SERVICE_USERS, Target, scim_user
from ops.seeding.population import PASSWORD, address

# Sends the operation once.
Send: TypeAlias = Callable[[], object]


# The release that the ratios of the rows belong to. It stays when a new version is released: ratios that began at 1
# again would let each release be a little dearer than the one before.
COMPARED_WITH: Final = "0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HotOperation:
    """An operation, and what prepares it for a target."""

    name: str
    prepare: Callable[[Target], Send]
    # Its cost with PostgreSQL as a multiple of that in `COMPARED_WITH`, measured when PostgreSQL was counted first.
    # Lower it after a gain; raise it only with a reason.
    ratio: float
    # The hash of a password is most of a login, and nothing that we write makes it cheaper. It runs on a thread of its
    # own, so that the thread of the event loop has used everything else.
    counts_only_the_event_loop: bool = False


def _profile(target: Target) -> Send:
    token = bearer(people.sign_in(target.server, address(target.users[0]))["access_token"])
    return lambda: target.client.get("/api/user", token)


def _refresh(target: Target) -> Send:
    token = people.sign_in(target.server, address(target.users[0]))["refresh_token"]

    def send() -> None:
        nonlocal token
        token = target.client.send_json("/api/auth/refresh", {"refresh_token": token}).json()["refresh_token"]

    return send


def _sign_in_page(target: Target) -> Send:
    def send() -> None:
        target.client.get("/app/sign-in")
        target.client.forget_cookies()

    return send


def _login(target: Target) -> Send:
    emails = cycle([address(number) for number in target.users])
    return lambda: target.client.send_json("/api/auth/login", {"email": next(emails), "password": PASSWORD})


def _service_users(target: Target) -> Send:
    return lambda: target.client.get(SERVICE_USERS, {"X-Api-Key": target.api_key})


def _directory(target: Target) -> Send:
    return lambda: target.client.get(SCIM_USERS, bearer(target.directory_token))


def new_emails() -> Iterator[str]:
    """Return addresses that have no account yet."""
    return (f"new{number}-{secrets.token_hex(4)}@example.com" for number in count())


def _signup(target: Target) -> Send:
    emails = new_emails()
    return lambda: target.client.send_json("/api/auth/register", {"email": next(emails), "password": PASSWORD})


def _scim_create(target: Target) -> Send:
    emails = new_emails()
    token = bearer(target.directory_token)
    return lambda: target.client.send_json("/scim/v2/Users", scim_user(next(emails)), token)


HOT_OPERATIONS: Final = (
    # A frontend asks it on every page: a token and one statement.
    HotOperation(name="profile", ratio=0.65, prepare=_profile),
    # Every session sends it every quarter of an hour: the shortest way that writes.
    HotOperation(name="refresh", ratio=0.60, prepare=_refresh),
    # What a person sees first: texts, forms and a template.
    HotOperation(name="sign-in page", ratio=0.72, prepare=_sign_in_page),
    # The longest way of a person: failures, devices, habits, a session, mails.
    HotOperation(name="login beside its hash", ratio=0.74, prepare=_login, counts_only_the_event_loop=True),
    # A sign-in to a service: the authorization request of the browser, the exchange of its code, the user information.
    HotOperation(name="code flow", ratio=0.72, prepare=lambda target: target.service.flow),
    # What the servers of services send all day: with a client secret, or with an API key.
    HotOperation(name="client credentials", ratio=0.75, prepare=lambda target: target.service.client_token),
    HotOperation(name="introspection", ratio=0.63, prepare=lambda target: target.service.introspection()),
    HotOperation(name="service users", ratio=0.78, prepare=_service_users),
    # What a directory sends every 40 minutes; the largest answers.
    HotOperation(name="directory, 100 users", ratio=0.82, prepare=_directory),
    # Nothing of its own: what the server and HTTP cost with every request.
    HotOperation(
        name="published keys", ratio=0.51, prepare=lambda target: lambda: target.client.get("/.well-known/jwks.json")
    ),
)
# What a report compares besides (`ops/bench --against`).
FURTHER_OPERATIONS: Final = (
    HotOperation(name="signup beside its hash", ratio=1.0, prepare=_signup, counts_only_the_event_loop=True),
    HotOperation(name="directory, a new user", ratio=1.0, prepare=_scim_create),
)
