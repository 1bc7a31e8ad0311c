"""Programs without a secret: what the token of a job opens, which jobs get none, and what ends it.

The jobs of both organizations run on one platform, which signs for each of them: the identity provider of work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jwt

from core.openid.clients import ASSERTION_TYPE
from tests.openid_provider import KEY, OTHER_KEY
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.relying_party import BASE_URL

MACHINES = Story.MACHINES
WORKED = "a program got a token"
ENDED = "what a program got was ended"
OUTLIVED = "outlived its rule"
MINUTES = 300


@dataclass
class Machine:
    """A key of an organization without a secret, its workload, and the tokens that the job got."""

    key_id: str
    workload_id: str
    tokens: list[str] = field(default_factory=list[str])


@step(MACHINES)
async def owner_allows_machine(hood: Neighbourhood, of: str) -> None:
    """The owner of an organization makes a key without a secret, and lets the organization's job authenticate as it."""
    if of in hood.machines:
        return
    body = {"name": "Job", "permissions": ["services.view"], "secret": False}
    key = (await hood.by_owner(of, "POST", "/keys", body)).json["key"]
    rule = {"name": "Job", "issuer": hood.work.url, "match": {"sub": _job(hood, of)}}
    made = await hood.by_owner(of, "POST", f"/keys/{key['id']}/workloads", rule)
    hood.machines[of] = Machine(key["id"], made.json["id"])


@step(MACHINES)
async def machine_works(hood: Neighbourhood, of: str) -> None:
    """The job of an organization gets a token, which opens what the key may in that organization, and no other one."""
    machine = hood.machines.get(of)
    if machine is None:
        return
    token = await _ask(hood, machine, _assertion(hood, sub=_job(hood, of)))
    if token is None:
        raise Violation("denied", f"the job of {of} got no token")
    machine.tokens.append(token)
    hood.explained.add(WORKED)
    if await _services(hood, of, token) != 200:
        raise Violation("denied", f"the token of the job of {of} opens nothing there")
    another = B if of == A else A
    if await _services(hood, another, token) == 200:
        raise Violation("machine", f"the token of the job of {of} opens {another}")


@step(MACHINES)
async def strangers_claim_machine(hood: Neighbourhood, of: str) -> None:
    """Other jobs, other issuers and other keys ask for a token of the key of an organization, and get none."""
    machine = hood.machines.get(of)
    if machine is None:
        return
    job = _job(hood, of)
    attempts = {
        "the job of the other organization": _assertion(hood, sub=_job(hood, B if of == A else A)),
        "a job with its name and more": _assertion(hood, sub=f"{job}-2"),
        "another installation's token": _assertion(hood, sub=job, aud="https://other.example"),
        "the issuer of the attacker": _assertion(hood, sub=job, iss=hood.evil.url),
        "another key": _assertion(hood, key=OTHER_KEY, sub=job),
    }
    for who, assertion in attempts.items():
        if await _ask(hood, machine, assertion) is not None:
            raise Violation("machine", f"{who} got a token of the key of {of}")


@step(MACHINES)
async def owner_ends_machine(hood: Neighbourhood, of: str, whole: bool) -> None:
    """The owner deletes the workload, or the whole key: what it got is refused at once, and it gets nothing more."""
    machine = hood.machines.pop(of, None)
    if machine is None:
        return
    path = f"/keys/{machine.key_id}" if whole else f"/keys/{machine.key_id}/workloads/{machine.workload_id}"
    answer = await hood.by_owner(of, "DELETE", path)
    if answer.status != 204:
        raise Violation("not ended", f"{of} was answered {answer.status}")
    hood.explained.add(ENDED)
    await judge_ended(hood, of, machine)


async def judge_ended(hood: Neighbourhood, of: str, machine: Machine) -> None:
    """Raise `Violation` when a machine that was ended gets a token, or one that it has opens something."""
    for token in machine.tokens:
        if await _services(hood, of, token) == 200:
            raise Violation(OUTLIVED, f"a token of the job of {of}")
    if await _ask(hood, machine, _assertion(hood, sub=_job(hood, of))) is not None:
        raise Violation(OUTLIVED, f"the job of {of} got a token")


def _job(hood: Neighbourhood, of: str) -> str:
    return f"job:{hood.organizations[of].slug}"


def _assertion(hood: Neighbourhood, *, key: Any = KEY, **changed: str) -> str:
    """Return a token of the platform of now, signed by it unless another key is given."""
    now = int(hood.world.clock().timestamp())
    claims = {"iss": hood.work.url, "aud": BASE_URL, "iat": now, "exp": now + MINUTES, **changed}
    return jwt.encode(claims, key, "RS256" if key is KEY else "ES256", headers={"kid": "1"})


async def _ask(hood: Neighbourhood, machine: Machine, assertion: str) -> str | None:
    """Ask for a token of the key; None for a refusal."""
    body = {
        "grant_type": "client_credentials",
        "client_id": f"key:{machine.key_id}",
        "client_assertion_type": ASSERTION_TYPE,
        "client_assertion": assertion,
    }
    answer = await hood.send("POST", "/auth/token", body)
    return answer.json["access_token"] if answer.status == 200 else None


async def _services(hood: Neighbourhood, of: str, token: str) -> int:
    """Return how the list of an organization's services answers a token."""
    return (await hood.send("GET", f"{hood.organizations[of].path}/services", token=token)).status
