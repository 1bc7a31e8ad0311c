"""Access tokens are verified offline, and what is no valid access token for this audience is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from drivers import Driver
from issuer import CLIENT_ID, SECRET, Clock, Issuer, Key, serving
from second_writings import second_writings

from gatehouse_client import ScopeMissing, TokenRefused, Unreachable

JWKS = "/.well-known/jwks.json"
CUSTOMER = {
    "org": "bolt",
    "service": "shop",
    "customer": "globex",
    "customer_id": "c1",
    "customer_name": "Globex",
    "customer_role": "admin",
    "service_roles": ["editor"],
    "customer_external_id": "crm-7",
    "plan": "team",
    "subscription_status": "active",
    "features": ["exports"],
    "groups": [{"id": "g1", "name": "Sales"}],
    "impersonator": "olga",
}


def verifier(driver: Driver, issuer: Issuer, **options: object):
    return driver.make("TokenVerifier", issuer.url, audience=CLIENT_ID, clock=issuer.clock, **options)


def encoded(value: object) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def test_groups_are_read_in_each_form(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    listed = ["Sales", {"id": "g1", "name": "Support"}, {"id": "g2"}, 7]

    caller = driver.call(made.verify, issuer.token(**CUSTOMER | {"groups": listed}))

    assert [(group.id, group.name) for group in caller.groups] == [("Sales", "Sales"), ("g1", "Support")]


def test_a_valid_token_names_its_caller(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)

    caller = driver.call(made.verify, issuer.token(**CUSTOMER), scopes=["read:things"])

    assert caller.person.id == "ann"
    assert caller.email == "ann@example.com"
    assert caller.session == "the session"
    assert caller.organization.slug == "bolt"
    assert (caller.customer.id, caller.customer.role, caller.customer.external_id) == ("c1", "admin", "crm-7")
    assert (caller.role, caller.customer_role, caller.service_roles) == (None, "admin", ("editor",))
    assert (caller.plan, caller.subscription_status, caller.features) == ("team", "active", ("exports",))
    assert [group.name for group in caller.groups] == ["Sales"]
    assert caller.impersonator == "olga"
    assert caller.auth_time == datetime.fromtimestamp(issuer.clock(), UTC)
    assert caller.claims["service"] == caller.service == "shop"
    assert issuer.requests == ["/.well-known/openid-configuration", JWKS]


def test_a_token_of_a_program_has_no_person_and_one_of_a_member_their_role(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)

    program = made.verify(issuer.token(sub=CLIENT_ID, sid=None, email=None, auth_time=None, amr=None))
    member = made.verify(issuer.token(org="bolt", role="owner"))

    assert (program.person, program.email, program.subject, program.auth_time) == (None, None, CLIENT_ID, None)
    assert (member.role, member.customer_role, member.service_roles) == ("owner", None, ())
    assert (member.organization.role, program.role) == ("owner", None)


def test_a_role_beside_a_customer_is_no_role_of_the_vendor(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)

    for claims in (CUSTOMER, {"org": "bolt", "customer": "globex"}, {"org": "bolt", "customer_id": "c1"}):
        caller = made.verify(issuer.token(**{**claims, "role": "owner"}))

        assert (caller.role, caller.organization.role) == (None, None), claims
    # Without the id of a customer nothing says for which one.
    nameless = made.verify(issuer.token(customer="globex", customer_role="owner"))
    assert (nameless.customer, nameless.customer_role) == (None, None)


def test_the_roles_of_a_product_count_with_and_without_a_customer(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)

    for claims in (CUSTOMER, {"org": "bolt", "role": "member"}):
        caller = made.verify(issuer.token(**{**claims, "service_roles": ["editor", "admin"]}))

        assert caller.service_roles == ("editor", "admin"), claims


@pytest.mark.parametrize("kind", ["RSA", "EC", "OKP"])
def test_tokens_are_signed_by_the_algorithms_of_their_key(blocking: Driver, issuer: Issuer, kind: str) -> None:
    issuer.keys = [Key(kind)]
    made = verifier(blocking, issuer)

    assert made.verify(issuer.token()).subject == "ann"
    if kind == "RSA":
        assert made.verify(issuer.keys[0].sign(issuer.claims(), algorithm="PS256")).subject == "ann"
        for other in ("RS512", "RS384", "PS512"):
            with pytest.raises(TokenRefused, match="algorithm"):
                made.verify(issuer.keys[0].sign(issuer.claims(), algorithm=other))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iss": "https://id.example.org"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"aud": "another service"}, "another audience"),
        ({"aud": ["another", "third"]}, "another audience"),
        ({"aud": None}, "another audience"),
        ({"aud": {CLIENT_ID: 1}}, "another audience"),
        ({"sub": None}, "no sub"),
        ({"sub": 1}, "no sub|invalid"),
        ({"exp": None}, "no exp"),
        ({"exp": "2099"}, "no exp"),
        ({"exp": True}, "no exp"),
        ({"exp": 10**15}, "no exp"),
        ({"iat": None}, "no iat"),
    ],
)
def test_claims_that_do_not_hold_are_refused(
    blocking: Driver, issuer: Issuer, changes: dict[str, object], reason: str
) -> None:
    made = verifier(blocking, issuer)
    signed = jwt.PyJWS().encode(
        json.dumps(issuer.claims(**changes)).encode(),
        issuer.keys[0].private,
        algorithm="RS256",
        headers={"typ": "at+jwt", "kid": issuer.keys[0].id},
    )

    with pytest.raises(TokenRefused, match=reason):
        made.verify(signed)


def test_a_token_holds_from_its_beginning_to_its_end_give_or_take_the_leeway(blocking: Driver, issuer: Issuer) -> None:
    at = int(issuer.clock())
    strict, lenient = verifier(blocking, issuer, leeway_seconds=0), verifier(blocking, issuer)

    for made, leeway in ((strict, 0), (lenient, 10)):
        assert made.verify(issuer.token(exp=at - leeway + 1, nbf=at + leeway, iat=at + leeway)).subject == "ann"
        for changes in ({"exp": at - leeway}, {"nbf": at + leeway + 1}, {"iat": at + leeway + 1}):
            with pytest.raises(TokenRefused, match=r"expired|not valid yet|in the future"):
                made.verify(issuer.token(**changes))
    with pytest.raises(ValueError, match="between 0 and 10"):
        verifier(blocking, issuer, leeway_seconds=11)


@pytest.mark.parametrize("typ", ["JWT", "logout+jwt", "pre-auth+jwt", "audit-head+jwt", "dpop+jwt", "AT+JWT", ""])
def test_a_token_of_another_kind_is_refused(blocking: Driver, issuer: Issuer, typ: str) -> None:
    made = verifier(blocking, issuer)

    with pytest.raises(TokenRefused, match="another kind"):
        made.verify(issuer.keys[0].sign(issuer.claims(), typ=typ))


def test_a_token_without_a_signature_or_by_a_symmetric_key_is_refused(blocking: Driver, issuer: Issuer) -> None:
    key = issuer.keys[0]
    secret = b"a symmetric key of thirty-two bytes"
    issuer.keys.append({"kty": "oct", "kid": "symmetric", "k": encoded(secret), "alg": "HS256", "use": "sig"})
    public = key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    made = verifier(blocking, issuer)

    def by_secret(kid: str, used: bytes) -> str:
        signed = f"{encoded({'typ': 'at+jwt', 'alg': 'HS256', 'kid': kid})}.{encoded(issuer.claims())}"
        return f"{signed}.{encoded(hmac.digest(used, signed.encode(), 'sha256'))}"

    for forged in (
        f"{encoded({'typ': 'at+jwt', 'alg': 'none', 'kid': key.id})}.{encoded(issuer.claims())}.",
        f"{encoded({'typ': 'at+jwt', 'kid': key.id})}.{encoded(issuer.claims())}.{encoded(b'x')}",
        by_secret(key.id, public),
        by_secret(key.id, json.dumps(key.jwk).encode()),
        by_secret("symmetric", secret),
    ):
        with pytest.raises(TokenRefused):
            made.verify(forged)


def test_a_token_of_another_installation_is_refused_also_under_a_known_key_id(
    blocking: Driver, issuer: Issuer, clock: Clock
) -> None:
    made = verifier(blocking, issuer)
    foreign = Key(number=1, id=issuer.keys[0].id)
    with serving(clock) as other:
        other.keys = [Key(number=1)]
        for token in (other.token(), other.token(iss=issuer.url), foreign.sign(issuer.claims())):
            with pytest.raises(TokenRefused):
                made.verify(token)

        assert other.requests == []


def test_what_is_no_token_is_refused(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)
    head, body, signature = issuer.token().split(".")

    for text in (
        *("", "a", "a.b", "a.b.c", "..", "é.é.é", f"{head}.{body}", f"{head}.{body}.", f"{head}.{body}.{signature}."),
        *("x" * 20_000, f"{head}.{body}.{signature}.x", f".{body}.{signature}", f"{head}..{signature}", "\ud800.x.x"),
        f"{head}.{encoded({})}.{signature}",
        f"{encoded([])}.{body}.{signature}",
        f"{encoded(b'{')}.{body}.{signature}",
        issuer.keys[0].sign(issuer.claims(), crit=["b64"], b64=True),
    ):
        with pytest.raises(TokenRefused):
            made.verify(text)


@pytest.mark.parametrize("kind", ["RSA", "EC", "OKP"])
def test_a_second_writing_of_a_token_is_refused(blocking: Driver, issuer: Issuer, kind: str) -> None:
    issuer.keys = [Key(kind)]
    made = verifier(blocking, issuer)

    for length in range(1, 4):
        token = issuer.token(email="a" * length)
        assert made.verify(token).email == "a" * length
        assert [name for name, text in second_writings(token).items() if is_taken(made, text)] == []


def is_taken(made: Any, token: str) -> bool:
    try:
        made.verify(token)
    except TokenRefused:
        return False
    return True


def test_a_missing_scope_is_named(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)

    with pytest.raises(ScopeMissing) as caught:
        driver.call(made.verify, issuer.token(), scopes=["read:things", "write:things"])

    assert caught.value.missing == ("write:things",)
    assert caught.value.required == ("read:things", "write:things")


def test_the_issuer_is_https_or_on_loopback_and_its_endpoints_are_of_its_origin(
    blocking: Driver, issuer: Issuer
) -> None:
    for address in ("http://id.example.com", "id.example.com", "https://id.example.com?x=1", "ftp://localhost"):
        with pytest.raises(ValueError, match="https address"):
            blocking.make("TokenVerifier", address, audience=CLIENT_ID)
    elsewhere = ("http://127.0.0.1:1/jwks", "http://127.0.0.1:x/jwks", None)
    for metadata in (*({"jwks_uri": one} for one in elsewhere), {"issuer": "https://id.example.org"}):
        issuer.metadata = metadata
        with pytest.raises(Unreachable, match=r"origin|another issuer"):
            verifier(blocking, issuer).verify(issuer.token())


def test_introspection_asks_once_for_many_and_again_after_seconds(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer, client_secret=SECRET)
    token = issuer.token()
    issuer.answers["/auth/introspect"] = lambda: (200, {"active": True, "role": "admin", "org": "bolt"}, {})

    callers = [future.result() for future in driver.at_once(8, made.introspect, token)]

    assert {caller.role for caller in callers} == {"admin"}
    assert callers[0].email == "ann@example.com"
    assert issuer.count("/auth/introspect") == 1
    assert issuer.forms[0]["token"] == token
    named, secret = base64.b64decode(issuer.headers[-1]["Authorization"].removeprefix("Basic ")).decode().split(":")
    assert (named, secret) == (CLIENT_ID, SECRET.replace(" ", "%20"))

    issuer.answers["/auth/introspect"] = lambda: (200, {"active": False}, {})
    issuer.clock.advance(5)
    with pytest.raises(TokenRefused, match="no longer"):
        driver.call(made.introspect, token)


def test_introspection_says_anew_which_roles_a_person_has(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer, client_secret=SECRET)
    answers = [
        ({"org": "bolt", "role": "owner", "service_roles": ["editor"]}, {}, (None, None, ())),
        (CUSTOMER, {"customer_id": "c1", "role": "owner"}, (None, None, ())),
        (CUSTOMER, {"customer_id": "c1", "customer_role": "member"}, (None, "member", ())),
        ({"org": "bolt"}, {"role": "admin", "service_roles": ["editor"]}, ("admin", None, ("editor",))),
    ]

    for claims, answer, expected in answers:
        issuer.answers["/auth/introspect"] = lambda answer=answer: (200, {"active": True, **answer}, {})
        caller = made.introspect(issuer.token(**claims))

        assert (caller.role, caller.customer_role, caller.service_roles) == expected, (claims, answer)

    issuer.answers["/auth/introspect"] = lambda: (200, {"active": True, "role": "owner"}, {})
    with pytest.raises(TokenRefused, match="for its customer"):
        made.introspect(issuer.token(**CUSTOMER))


def test_secrets_are_in_no_representation(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer, client_secret=SECRET)
    token = issuer.token()

    shown = f"{made!r} {made.verify(token)!r} {made.__dict__!r}"

    assert SECRET not in shown
    assert token not in shown
    assert hashlib.sha256(token.encode()).hexdigest() not in shown


def test_claims_of_the_product_have_their_types(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)
    groups = [{"id": "g1", "name": "Sales"}, {"id": "g2"}, 7]
    caller = made.verify(
        issuer.token(tier="gold", seats=5, share=0.5, trial=True, tags=["a", 1, "b"], teams=groups, scope="a b")
    )

    assert caller.scopes == {"a", "b"}
    assert (caller.claim("tier", str), caller.claim("seats", int), caller.claim("share", float)) == ("gold", 5, 0.5)
    assert caller.claim("seats", float) == 5.0
    assert caller.claim("trial", bool) is True
    assert (caller.texts("tags"), caller.texts("teams"), caller.texts("none")) == (("a", "b"), ("Sales",), ())
    # A claim of another type counts as absent.
    others = [("tier", int), ("seats", str), ("seats", bool), ("trial", int), ("trial", float), ("share", int)]
    assert [caller.claim(name, kind) for name, kind in [*others, ("none", str)]] == [None] * 7
    assert caller.texts("tier") == ()


def test_introspection_says_anew_what_the_product_claims_and_which_scopes_there_are(
    blocking: Driver, issuer: Issuer
) -> None:
    made = verifier(blocking, issuer, client_secret=SECRET)
    answer = {"active": True, "seats": 6, "scope": "read:things"}
    issuer.answers["/auth/introspect"] = lambda: (200, answer, {})
    token = issuer.token(tier="gold", seats=5, scope="read:things write:things", plan="team", org="bolt")

    caller = made.introspect(token)

    assert (caller.claim("tier", str), caller.claim("seats", int)) == (None, 6)
    assert (caller.scopes, caller.plan, caller.email) == ({"read:things"}, "team", "ann@example.com")
    with pytest.raises(ScopeMissing):
        made.introspect(token, scopes=["write:things"])
