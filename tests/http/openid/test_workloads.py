"""Programs exchange a token of their own platform for one of ours, and no other token."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from psycopg.types.json import Jsonb

from core.organizations.access import Capability
from tests.application import Answer, serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.world.builder import NO_ID
from tests.world.organization_keys import insert_organization_key
from tests.world.relying_party import ProofKey
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.workload_issuer import (
    BASE_URL,
    KEYS,
    OTHER_RSA,
    RSA,
    WorkloadIssuer,
    ask,
    public_key,
    running_issuer,
)
from tests.world.workload_platforms import PLATFORMS


@pytest.fixture
def issuer() -> Generator[WorkloadIssuer]:
    """An issuer that a service or a key of the team may trust."""
    with running_issuer() as running:
        yield running


@dataclass
class Till:
    """A service of a team, and a key of its owner that lists services."""

    team: Team
    client_id: UUID
    service_id: UUID
    key_id: UUID
    slug: str = "till"
    ids: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> str:
        """The path of the workloads of the service."""
        return f"/services/{self.slug}/workloads"

    @property
    def path_of_key(self) -> str:
        """The path of the workloads of the key."""
        return f"/keys/{self.key_id}/workloads"

    async def allow(
        self, issuer: WorkloadIssuer, /, *, of_key: bool = False, by: str = "owner", **fields: Any
    ) -> Answer:
        """Let the job of an issuer authenticate."""
        body = {"name": "Deployment", "issuer": issuer.url, "match": {"sub": "job-1"}, **fields}
        return await self.team.request(by, "POST", self.path_of_key if of_key else self.path, body=body)

    async def ask(self, assertion: str, **fields: Any) -> Answer:
        """Ask for a token of the service."""
        return await ask(self.team.world, self.client_id, assertion, **fields)

    async def ask_for_key(self, assertion: str, **fields: Any) -> Answer:
        """Ask for a token that stands for the key, bound to the key of a proof if there is one."""
        return await ask(self.team.world, f"key:{self.key_id}", assertion, **fields)

    async def last_refused(self) -> dict[str, Any] | None:
        """Return what the owner reads of the last refusal."""
        [found] = (await self.team.request("owner", "GET", self.path)).json["workloads"]
        return found["last_refused"]


@pytest.fixture
def till(team: Team) -> Till:
    """A service and a key of the team."""
    service = team.world.service(team.organization_id, "till")
    permissions = (Capability.SERVICES_VIEW, Capability.SERVICES_MANAGE)
    key_id = insert_organization_key(team.world, team.organization_id, team.ids["owner"], permissions=permissions)
    return Till(team, service.client_id, service.id, key_id)


class TestTokens:
    """POST /auth/token with the token of another issuer."""

    async def test_a_token_of_the_service_is_issued_and_introspected_while_the_workload_is_there(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        made = await till.allow(issuer)
        token = issuer.token(world)

        answer = await till.ask(token)
        again = await till.ask(token)

        assert (answer.status, again.status) == (200, 200), answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        assert {**answer.json, "access_token": ""} == {"access_token": "", "token_type": "Bearer", "expires_in": 900}
        claims = claims_of(answer.json["access_token"])
        assert jwt.get_unverified_header(answer.json["access_token"])["alg"] == "RS256"
        assert claims["sub"] == claims["aud"] == claims["client_id"] == str(till.client_id)
        for path in ("/api/user", "/auth/userinfo", till.team.path, f"{till.team.path}/services"):
            assert (await world.client.get(path, token=answer.json["access_token"])).status == 401, path
        proof = ProofKey()
        world.connection.execute(
            "UPDATE services SET jwks = %s WHERE id = %s",
            (Jsonb({"keys": [{**proof.public, "kid": "one"}]}), till.service_id),
        )

        async def is_active() -> bool:
            fields = {
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": proof.assertion(till.client_id, now=world.clock),
                "token": answer.json["access_token"],
            }
            return (await world.client.post("/auth/introspect", body=fields)).json["active"]

        assert await is_active()
        # The service's own assertion works beside the workload.
        own = {"client_assertion": proof.assertion(till.client_id, now=world.clock)}
        assert (await till.ask(own["client_assertion"])).status == 200
        removed = await till.team.request("owner", "DELETE", f"{till.path}/{made.json['id']}")
        assert removed.status == 204
        assert not await is_active()
        assert (await till.ask(token)).json["error"] == "invalid_client"

    async def test_it_has_the_scopes_of_machines_and_that_of_a_key_has_none(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        await till.allow(issuer)
        await till.allow(issuer, of_key=True)
        scopes = [{"name": name, "description": "Of the till."} for name in ("read", "write", "refund")]
        body = {"scopes": scopes, "machine_scopes": ["write", "read"]}
        assert (await till.team.request("owner", "PATCH", "/services/till", body=body)).status == 200

        for asked, given in (({}, "write read"), ({"scope": " read  refund openid "}, "read"), ({"scope": "x"}, "")):
            answer = await till.ask(issuer.token(world), **asked)
            assert (answer.json["scope"], claims_of(answer.json["access_token"])["scope"]) == (given, given)
        of_key = await till.ask_for_key(issuer.token(world), scope="read")
        assert "scope" not in of_key.json | claims_of(of_key.json["access_token"])

    async def test_a_token_that_stands_for_the_key_is_taken_where_the_key_is(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world, team = till.team.world, till.team
        made = await till.allow(issuer, of_key=True)

        answer = await till.ask_for_key(issuer.token(world))

        assert answer.status == 200, answer.text
        token = answer.json["access_token"]
        claims = claims_of(token)
        assert (claims["sub"], claims["aud"]) == (f"key:{till.key_id}", BASE_URL)
        assert jwt.get_unverified_header(token)["alg"] == "ES256"
        get = partial(world.client.get, token=token)
        assert (await get(f"{team.path}/services")).status == 200
        created = await world.client.post(
            f"{team.path}/services/till/plans", token=token, body={"name": "Pro", "price_cents": 1, "currency": "eur"}
        )
        assert created.status == 200, created.text
        assert team.world.audit_entries("plan.created")[-1][-1]["organization_key_id"] == str(till.key_id)
        assert (await get(f"{team.path}/webhooks")).status == 403
        assert (await get(f"{team.path}/keys")).status == 403
        assert (await get("/api/organizations/globex/services")).status == 404
        for path in ("/api/user", "/auth/userinfo", "/api/organizations", "/api/service/users", "/api/user/sessions"):
            assert (await get(path)).status == 401, path
        assert (await get(f"{team.path}/services/till/workloads")).status == 200
        # A workload of a service is a setting of the organization, as its secret is; one of a key is none.
        made_by_key = await world.client.post(
            team.path + till.path_of_key,
            token=token,
            body={"name": "More", "issuer": issuer.url, "match": {"sub": "other"}},
        )
        assert made_by_key.status == 403
        assert (await team.request("owner", "DELETE", f"{till.path_of_key}/{made.json['id']}")).status == 204
        assert (await get(f"{team.path}/services")).status == 401

    @pytest.mark.parametrize(
        ("statement", "status"),
        [
            ("DELETE FROM workloads", 401),
            ("DELETE FROM organization_keys", 401),
            ("UPDATE organization_keys SET expires_at = created_at", 401),
            ("UPDATE organizations SET status = 'suspended'", 403),
            ("UPDATE organizations SET status = 'deleting', status_before_deletion = status, deletes_at = now()", 401),
            ("DELETE FROM memberships WHERE role = 'owner'", 401),
            ("UPDATE memberships SET suspended_at = now()", 403),
            ("UPDATE users SET deactivated_at = now()", 401),
            ("UPDATE users SET locked_at = now()", 401),
            ("UPDATE organizations SET mfa_required = true", 403),
        ],
    )
    async def test_what_ends_the_key_refuses_its_tokens_at_once(
        self, till: Till, issuer: WorkloadIssuer, statement: str, status: int
    ) -> None:
        world = till.team.world
        await till.allow(issuer, of_key=True)
        foreign = issuer.token(world)
        token = (await till.ask_for_key(foreign)).json["access_token"]

        world.connection.execute(statement.encode())

        assert (await world.client.get(f"{till.team.path}/services", token=token)).status == status
        if status == 401:
            assert (await till.ask_for_key(foreign)).json["error"] == "invalid_client"

    async def test_one_for_the_key_of_another_ends_with_the_membership_of_its_maker(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        team = till.team
        made = await till.allow(issuer, of_key=True, by="admin")
        foreign = issuer.token(team.world)
        token = (await till.ask_for_key(foreign)).json["access_token"]

        removed = await team.request("owner", "POST", f"/members/{team.ids['admin']}")

        assert (made.status, removed.status) == (200, 200)
        assert (await team.world.client.get(f"{team.path}/services", token=token)).status == 401
        assert (await till.ask_for_key(foreign)).json["error"] == "invalid_client"
        assert team.world.audit_entries("workload.deleted", "details") == [
            ({"workload_id": made.json["id"], "name": "Deployment", "reason": "maker_left"},)
        ]

    async def test_a_key_made_with_two_factors_opens_no_more_than_its_workload_was_made_with(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        await till.allow(issuer, of_key=True)
        token = (await till.ask_for_key(issuer.token(world))).json["access_token"]
        world.connection.execute("UPDATE organization_keys SET has_second_factor = true")
        world.connection.execute("UPDATE organizations SET mfa_required = true")

        refused = await world.client.get(f"{till.team.path}/services", token=token)
        world.connection.execute("UPDATE workloads SET has_second_factor = true")
        taken = await world.client.get(f"{till.team.path}/services", token=token)

        assert (refused.status, taken.status) == (403, 200)

    async def test_a_key_without_a_secret_is_used_by_its_workloads_alone(
        self, team: Team, issuer: WorkloadIssuer
    ) -> None:
        body = {"name": "Pipeline", "permissions": ["services.view"], "secret": False, "expires_in_days": 1}
        created = await team.request("owner", "POST", "/keys", body=body)
        key_id = created.json["key"]["id"]
        rule = {"name": "Main", "issuer": issuer.url, "match": {"sub": "job-1"}}

        allowed = await team.request("admin", "POST", f"/keys/{key_id}/workloads", body=rule)
        listed = (await team.request("owner", "GET", "/keys")).json["keys"]
        team.world.clock.advance(timedelta(hours=23, minutes=50))
        answer = await ask(team.world, f"key:{key_id}", issuer.token(team.world))

        assert set(created.json) == {"key"}
        assert [created.json["key"]["prefix"], *(one["prefix"] for one in listed)] == [None, None]
        assert allowed.status == 200, allowed.text
        assert answer.json["expires_in"] == 600
        assert (await team.world.client.get(f"{team.path}/services", token=answer.json["access_token"])).status == 200

    @pytest.mark.parametrize("preset", PLATFORMS)
    async def test_the_real_shape_of_each_platform_fits_its_rule_and_each_other_value_does_not(
        self, till: Till, issuer: WorkloadIssuer, preset: str
    ) -> None:
        world = till.team.world
        name, claims, match = PLATFORMS[preset]
        made = await till.allow(issuer, issuer=name, match=match, jwks_uri=f"{issuer.url}/keys")
        sign = partial(issuer.token, world)

        assert made.status == 200, made.text
        assert (await till.ask(sign(**{**claims, "iss": name}))).status == 200
        for claim, value in match.items():
            wrong = _with(claims, claim, f"{value}0")
            answer = await till.ask(sign(**{**wrong, "iss": name}))
            world.clock.advance(timedelta(minutes=1))

            assert (answer.status, answer.json["error"]) == (401, "invalid_client"), claim
            assert (await till.ask(sign(**{**_with(claims, claim, None), "iss": name}))).status == 401, claim
        refused = await till.last_refused()
        assert refused is not None
        assert refused["reason"] == "claims"
        assert set(refused["claims"]) == set(match)

    async def test_each_algorithm_is_taken_with_a_key_of_its_kind(self, till: Till, issuer: WorkloadIssuer) -> None:
        keys = [public_key(key, algorithm, kid=algorithm) for algorithm, key in KEYS.items()]
        await till.allow(issuer, jwks={"keys": keys})
        sign = partial(issuer.token, till.team.world)

        answers = [await till.ask(sign(key=key, algorithm=algorithm, kid=algorithm)) for algorithm, key in KEYS.items()]

        assert statuses_of(answers) == [200] * 4
        assert issuer.requests == []

    async def test_the_audience_of_the_rule_replaces_ours(self, till: Till, issuer: WorkloadIssuer) -> None:
        await till.allow(issuer, audience="sts.shop.example", match={"sub": "job-1", "aud": "sts.shop.example"})
        sign = partial(issuer.token, till.team.world)

        assert (await till.ask(sign(aud="sts.shop.example"))).status == 200
        assert (await till.ask(sign(aud=["other", "sts.shop.example"]))).status == 200
        assert statuses_of([await till.ask(sign(aud=audience)) for audience in (BASE_URL, ["other"], 7, None)]) == (
            [401] * 4
        )

    async def test_a_token_may_be_bound_to_a_key_and_name_an_audience_of_the_service(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        world.connection.execute("UPDATE services SET audiences = '{https://api.shop.example}'")
        await till.allow(issuer)
        await till.allow(issuer, of_key=True)
        foreign = issuer.token(world)

        named = await till.ask(foreign, resource="https://api.shop.example")
        unknown = await till.ask(foreign, resource="https://api.other.example")
        of_key = await till.ask_for_key(foreign, resource="https://api.shop.example")

        assert claims_of(named.json["access_token"])["aud"] == "https://api.shop.example"
        assert [one.json["error"] for one in (unknown, of_key)] == ["invalid_target"] * 2

    async def test_a_token_that_is_bound_to_a_key_needs_its_proof(self, till: Till, issuer: WorkloadIssuer) -> None:
        world = till.team.world
        await till.allow(issuer, of_key=True)
        holder, path = ProofKey(), f"{till.team.path}/services"
        sign = partial(holder.proof, now=world.clock)
        asked = partial(till.ask_for_key, issuer.token(world))
        nonce = (await asked(proof=sign("POST", "/auth/token"))).headers["DPoP-Nonce"]

        bound = await asked(proof=sign("POST", "/auth/token", nonce=nonce))
        token = bound.json["access_token"]
        proof = sign("GET", path, nonce=nonce, access_token=token)
        used = await world.client.get(path, headers={"Authorization": f"DPoP {token}", "DPoP": proof})
        stolen = await world.client.get(path, token=token)
        foreign = ProofKey().proof("GET", path, now=world.clock, nonce=nonce, access_token=token)
        other = await world.client.get(path, headers={"Authorization": f"DPoP {token}", "DPoP": foreign})

        assert bound.json["token_type"] == "DPoP"
        assert statuses_of([used, stolen, other]) == [200, 401, 401]


def _with(claims: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return claims in which one, perhaps a nested one, has another value, or is missing."""
    if path in claims:
        return {**claims, path: value}
    first, _, rest = path.partition("/")
    return {**claims, first: _with(claims[first], rest, value)} if rest else {**claims, first: value}


class TestAttacks:
    """What fits no rule gets nothing, and the owner reads why."""

    async def test_claims_that_do_not_fit_are_refused_and_shown_to_the_owner_alone(
        self, till: Till, issuer: WorkloadIssuer, subtests: pytest.Subtests
    ) -> None:
        world = till.team.world
        await till.allow(issuer, match={"sub": "job-1", "ref": "*", "kubernetes.io/pod": "x"})
        now = int(world.clock().timestamp())
        fits: dict[str, Any] = {"ref": "*", "kubernetes.io": {"pod": "x"}}
        assert (await till.ask(issuer.token(world, **fits))).status == 200
        cases: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
            ({"ref": "refs/heads/main"}, "claims", {"ref": "refs/heads/main"}),
            ({"ref": ["*"]}, "claims", {"ref": '["*"]'}),
            ({"ref": 1}, "claims", {"ref": "1 (no text)"}),
            ({"ref": True}, "claims", {"ref": "True (no text)"}),
            ({"ref": {"a": 1}}, "claims", {"ref": "{…}"}),
            ({"ref": None}, "claims", {"ref": None}),
            ({"ref": "x" * 300 + "\x00"}, "claims", {"ref": "x" * 200}),
            ({"ref": "\x00"}, "claims", {"ref": "\ufffd"}),
            ({"sub": "job-10"}, "claims", {"sub": "job-10"}),
            ({"kubernetes.io": {"pod": {"x": 1}}}, "claims", {"kubernetes.io/pod": "{…}"}),
            ({"kubernetes.io": "pod"}, "claims", {"kubernetes.io/pod": None}),
            ({"aud": "https://other.example"}, "audience", {"ref": "*"}),
            ({"aud": [f"{BASE_URL}/"]}, "audience", {}),
            ({"exp": None}, "lifetime", {}),
            ({"exp": "soon"}, "lifetime", {}),
            ({"exp": now + 86_401}, "lifetime", {}),
            ({"exp": 2**60}, "lifetime", {}),
            ({"exp": now - 31}, "expired", {}),
            ({"nbf": now + 31}, "not_yet_valid", {}),
            ({"iat": "now"}, "not_yet_valid", {}),
        ]
        for claims, reason, shown in cases:
            with subtests.test(claims=claims):
                world.connection.execute("UPDATE workloads SET refused_at = refused_at - interval '1 minute'")

                answer = await till.ask(issuer.token(world, **{**fits, **claims}))

                assert (answer.status, answer.json["error"]) == (401, "invalid_client")
                assert reason not in answer.text
                refused = await till.last_refused()
                assert refused is not None
                assert refused["reason"] == reason
                assert refused["claims"].items() >= shown.items()
                assert refused["claims"].keys() == {"sub", "ref", "kubernetes.io/pod"}
        assert (await till.ask(issuer.token(world, **fits, exp=now + 86_400))).status == 200

    async def test_other_algorithms_and_other_keys_sign_nothing(self, till: Till, issuer: WorkloadIssuer) -> None:
        world = till.team.world
        await till.allow(issuer)
        pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        good = jwt.decode(issuer.token(world), options={"verify_signature": False})

        answers = [
            await till.ask(issuer.token(world, key=OTHER_RSA)),
            await till.ask(issuer.token(world, key=OTHER_RSA, kid="2")),
            await till.ask(jwt.encode(good, "", "none", headers={"kid": "1"})),
            await till.ask(_by_hmac(good, pem)),
            await till.ask(jwt.encode(good, RSA, "RS512", headers={"kid": "1"})),
            await till.ask("nonsense"),
            await till.ask(issuer.token(world) + "x"),
        ]

        assert statuses_of(answers) == [401] * 7
        assert {answer.json["error_description"] for answer in answers} == {answers[0].json["error_description"]}
        refused = await till.last_refused()
        assert refused is not None
        assert (refused["reason"], refused["claims"]) == ("signature", {})

    async def test_an_issuer_signs_nothing_for_another_with_the_same_key_id(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        with running_issuer() as other:
            other.keys = [public_key(OTHER_RSA)]
            await till.allow(issuer)
            await till.allow(other)

            assert (await till.ask(other.token(world, key=OTHER_RSA))).status == 200
            assert (await till.ask(issuer.token(world, key=OTHER_RSA))).status == 401
            assert (await till.ask(other.token(world, iss=issuer.url, key=OTHER_RSA))).status == 401
            assert (await till.ask(other.token(world))).status == 401

    async def test_a_rule_counts_for_its_own_service_and_key_alone(self, till: Till, issuer: WorkloadIssuer) -> None:
        world, team = till.team.world, till.team
        await till.allow(issuer)
        other = world.service(team.organization_id, "other")
        foreign = world.service(world.organization("globex"), "till")
        own_key = insert_organization_key(world, team.organization_id, team.ids["admin"])
        token = issuer.token(world)

        refused = [
            await ask(world, client_id, token)
            for client_id in (
                other.client_id,
                foreign.client_id,
                f"key:{till.key_id}",
                f"key:{own_key}",
                f"key:{till.client_id}",
                till.key_id,
                f"key:{NO_ID}",
                "key:",
                "till",
                NO_ID,
            )
        ]
        assert {(answer.status, answer.json["error_description"]) for answer in refused} == {
            (401, refused[0].json["error_description"])
        }
        unnamed = {"grant_type": "client_credentials", "client_assertion": token}
        assert (await world.client.post("/auth/token", body=unnamed)).status in {400, 401}
        for grant_type in ("refresh_token", "authorization_code"):
            assert (await till.ask(token, grant_type=grant_type)).status == 401
        both = await till.ask(token, client_secret="x")
        typed = await till.ask(token, client_assertion_type="saml")
        assert [one.json["error"] for one in (both, typed)] == ["invalid_request"] * 2

    async def test_public_services_and_those_with_a_profile_have_no_workloads(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        await till.allow(issuer)
        token = issuer.token(world)

        world.connection.execute("UPDATE services SET service_type = 'mobile'")
        refused = await till.ask(token)
        public = await till.allow(issuer)
        world.connection.execute("UPDATE services SET service_type = 'web', security_profile = 'fapi2'")
        with_profile = await till.ask(token)
        profiled = await till.allow(issuer)

        assert (refused.status, with_profile.status) == (401, 403)
        assert (public.status, profiled.status) == (400, 400)

    async def test_the_tokens_of_a_suspended_organization_are_refused(self, till: Till, issuer: WorkloadIssuer) -> None:
        await till.allow(issuer)
        await till.allow(issuer, of_key=True)
        till.team.world.set_organization_status(till.team.organization_id, "suspended")
        token = issuer.token(till.team.world)

        assert statuses_of([await till.ask(token), await till.ask_for_key(token)]) == [401, 401]

    async def test_a_flood_of_wrong_tokens_is_no_flood_of_fetches_or_writes(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        world = till.team.world
        await till.allow(issuer)
        wrong = [issuer.token(world, kid=f"unknown-{number}") for number in range(20)]

        answers = await at_once(*[partial(till.ask, token) for token in wrong])

        assert set(statuses_of(answers)) == {401}
        # The document and the keys once: what was fetched a moment ago is young enough for an unknown key.
        assert len(issuer.requests) == 2
        first = await till.last_refused()
        world.clock.advance(timedelta(seconds=9))
        await till.ask(issuer.token(world, sub="job-2"))
        assert await till.last_refused() == first
        world.clock.advance(timedelta(seconds=1))
        await till.ask(issuer.token(world, sub="job-2"))
        later = await till.last_refused()
        assert later is not None
        assert later["claims"] == {"sub": "job-2"}

    async def test_wrong_tokens_are_limited_by_address(self, till: Till, issuer: WorkloadIssuer) -> None:
        world = till.team.world
        await till.allow(issuer)
        client = serving_with_rate_limits(world.installation)
        fields = {
            "grant_type": "client_credentials",
            "client_id": str(till.client_id),
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        }

        async def send(**claims: Any) -> int:
            body = {**fields, "client_assertion": issuer.token(world, **claims)}
            return (await client.post("/auth/token", body=body)).status

        assert {await send(sub="other") for _ in range(25)} == {401, 429}
        assert {await send() for _ in range(25)} == {200}

    async def test_an_issuer_in_a_private_network_is_refused_and_never_asked(
        self, till: Till, issuer: WorkloadIssuer
    ) -> None:
        for address in ("https://10.0.0.7", "https://169.254.169.254/latest", "https://[fd00::1]", "https://0x7f.1"):
            answer = await till.allow(issuer, issuer=address)

            assert answer.status == 400, address
            assert answer.json["details"][0]["field"] == "issuer"
            assert (await till.allow(issuer, jwks_uri=address)).json["details"][0]["field"] == "jwks_uri"


def _by_hmac(claims: dict[str, Any], secret: bytes) -> str:
    """Sign with a public key as the secret of an HMAC, which the library refuses to do."""

    def encoded(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")

    head = encoded(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "1"}).encode())
    signed = f"{head}.{encoded(json.dumps(claims).encode())}"
    return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), hashlib.sha256))}"
