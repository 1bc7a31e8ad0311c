"""A confidential service with Authlib: the code flow, refreshing, introspection, revocation, and a device.

It is run by the peer's own Python, with what it needs to know in its environment.
"""

import importlib
import os
import sys
import time
from typing import Any

# They are installed for the peer's own Python only.
requests: Any = importlib.import_module("requests")
OAuth2Session: Any = importlib.import_module("authlib.integrations.requests_client").OAuth2Session
jwt: Any = importlib.import_module("joserfc.jwt")
KeySet: Any = importlib.import_module("joserfc.jwk").KeySet
# Beside this program.
Browser: Any = importlib.import_module("browser").Browser

ISSUER, REDIRECT_URI = os.environ["ISSUER"], os.environ["REDIRECT_URI"]
EMAIL, PASSWORD = os.environ["EMAIL"], os.environ["PASSWORD"]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
browser = Browser(ISSUER, EMAIL, PASSWORD)

metadata = requests.get(f"{ISSUER}/.well-known/openid-configuration", timeout=60).json()
keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=60).json())
for method in ("client_secret_basic", "client_secret_post"):
    session = OAuth2Session(
        os.environ["CLIENT_ID"],
        os.environ["CLIENT_SECRET"],
        scope="openid email",
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        introspection_endpoint_auth_method=method,
    )
    verifier = "correct-horse-battery-staple-correct-horse-battery"
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce="n-1"
    )
    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=browser.open(address), code_verifier=verifier, state=state
    )
    claims = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["nonce"], claims["email"]) == (ISSUER, "n-1", EMAIL)
    assert session.get(metadata["userinfo_endpoint"]).json()["email"] == EMAIL
    renewed = session.refresh_token(metadata["token_endpoint"], tokens["refresh_token"])
    described = session.introspect_token(metadata["introspection_endpoint"], renewed["access_token"]).json()
    assert described["active"]
    assert session.revoke_token(metadata["revocation_endpoint"], renewed["refresh_token"]).status_code == 200
    assert not session.introspect_token(metadata["introspection_endpoint"], renewed["access_token"]).json()["active"]

    device = requests.post(
        metadata["device_authorization_endpoint"], data={"client_id": os.environ["CLIENT_ID"]}, timeout=60
    ).json()
    assert "The device is signed in" in browser.open(device["verification_uri_complete"])
    time.sleep(device["interval"])
    assert session.fetch_token(metadata["token_endpoint"], grant_type=DEVICE_GRANT, device_code=device["device_code"])[
        "access_token"
    ]
sys.stdout.write("all flows\n")
