"""Keys are fetched once, survive a rotation and an outage, and no flood of tokens reaches Gatehouse."""

from __future__ import annotations

import pytest
from drivers import Driver
from issuer import CLIENT_ID, Issuer, Key

from gatehouse_client import TokenRefused, Unreachable

JWKS = "/.well-known/jwks.json"


def verifier(driver: Driver, issuer: Issuer):
    return driver.make("TokenVerifier", issuer.url, audience=CLIENT_ID, clock=issuer.clock)


def test_one_fetch_serves_all_callers_that_wait(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    with issuer.gate:
        waiting = driver.at_once(12, made.verify, issuer.token())
        issuer.wait_for("/.well-known/openid-configuration", 1)

    assert {future.result().subject for future in waiting} == {"ann"}
    assert issuer.requests == ["/.well-known/openid-configuration", JWKS]


def test_a_rotation_fails_no_request(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    old = issuer.token()
    driver.call(made.verify, old)
    issuer.keys.insert(0, Key("EC"))

    callers = [future.result() for token in (old, issuer.token()) for future in driver.at_once(6, made.verify, token)]

    assert len(callers) == 12
    assert issuer.count(JWKS) == 2


def test_a_flood_of_unknown_key_ids_leads_to_one_fetch_in_thirty_seconds(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    driver.call(made.verify, issuer.token())

    def flood() -> None:
        for _ in range(20):
            with pytest.raises(TokenRefused, match="no key"):
                driver.call(made.verify, Key("EC").sign(issuer.claims()))

    flood()
    assert issuer.count(JWKS) == 2
    issuer.clock.advance(29)
    flood()
    assert issuer.count(JWKS) == 2
    issuer.clock.advance(1)
    flood()
    assert issuer.count(JWKS) == 3


def test_keys_are_read_again_every_five_minutes_and_a_withdrawn_one_is_refused(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    driver.call(made.verify, issuer.token())
    withdrawn = issuer.keys[0]
    issuer.keys = [Key("EC")]

    issuer.clock.advance(299)
    assert driver.call(made.verify, withdrawn.sign(issuer.claims())).subject == "ann"
    issuer.clock.advance(1)
    with pytest.raises(TokenRefused, match="no key"):
        driver.call(made.verify, withdrawn.sign(issuer.claims()))


def test_known_keys_hold_for_an_hour_of_outage_and_expiry_always(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    driver.call(made.verify, issuer.token())
    issuer.is_away = True

    for _ in range(59):
        issuer.clock.advance(60)
        assert driver.call(made.verify, issuer.token()).subject == "ann"
        with pytest.raises(TokenRefused, match="expired"):
            driver.call(made.verify, issuer.token(exp=int(issuer.clock()) - 10))
    assert issuer.count(JWKS) == 1 + 55

    issuer.clock.advance(60)
    for _ in range(3):
        with pytest.raises(Unreachable):
            driver.call(made.verify, issuer.token())
    issuer.is_away = False
    issuer.clock.advance(2)
    assert driver.call(made.verify, issuer.token()).subject == "ann"


def test_an_unknown_key_id_during_an_outage_is_not_called_invalid(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    driver.call(made.verify, issuer.token())
    issuer.is_away = True

    for _ in range(3):
        with pytest.raises(Unreachable):
            driver.call(made.verify, Key("EC").sign(issuer.claims()))

    assert issuer.count(JWKS) == 2


def test_nothing_is_verified_while_gatehouse_has_never_answered(driver: Driver, issuer: Issuer) -> None:
    made = verifier(driver, issuer)
    issuer.is_away = True
    with issuer.gate:
        waiting = driver.at_once(6, made.verify, issuer.token())
        issuer.wait_for("/.well-known/openid-configuration", 1)

    for future in waiting:
        with pytest.raises(Unreachable):
            future.result()
    # Calls that waited share the failure.
    assert len(issuer.requests) == 1


def test_keys_that_sign_nothing_are_left_out(blocking: Driver, issuer: Issuer) -> None:
    made = verifier(blocking, issuer)
    usable = issuer.keys[0].jwk
    issuer.keys[1:] = [
        usable | {"kid": "encryption", "use": "enc"},
        usable | {"kid": "weak", "n": "AQAB"},
        usable | {"kid": "other algorithm", "alg": "RS512"},
        usable | {"kid": 7},
        {"kty": "EC", "kid": "curve", "crv": "P-521", "x": "AA", "y": "AA"},
        {"kty": "EC", "kid": "point", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": ["RSA"], "kid": "kind"},
    ]
    assert made.verify(issuer.token()).subject == "ann"

    for kid in ("encryption", "weak", "other algorithm", "curve", "point", "kind", ""):
        with pytest.raises(TokenRefused, match="no key"):
            made.verify(Key(id=kid).sign(issuer.claims()))
