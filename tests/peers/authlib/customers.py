"""One client of a service with customers, with Authlib: people of two sign in, and one of both chooses between them.

It is run by the peer's own Python, with what it needs to know in its environment.
"""

import importlib
import json
import os
import sys
from typing import Any

# They are installed for the peer's own Python only.
requests: Any = importlib.import_module("requests")
OAuth2Session: Any = importlib.import_module("authlib.integrations.requests_client").OAuth2Session
jwt: Any = importlib.import_module("joserfc.jwt")
KeySet: Any = importlib.import_module("joserfc.jwk").KeySet
# Beside this program.
Browser: Any = importlib.import_module("browser").Browser

ISSUER = os.environ["ISSUER"]
VERIFIER = "correct-horse-battery-staple-correct-horse-battery"

metadata = requests.get(f"{ISSUER}/.well-known/openid-configuration", timeout=60).json()
keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"], timeout=60).json())


def told(claims: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Return the claims about the expected names."""
    return {name: claims.get(name) for name in expected}


for sign_in in json.loads(os.environ["CUSTOMER_SIGN_INS"]):
    session = OAuth2Session(
        os.environ["CLIENT_ID"],
        os.environ["CLIENT_SECRET"],
        scope="openid email",
        redirect_uri=os.environ["REDIRECT_URI"],
        code_challenge_method="S256",
    )
    # The one line: the library passes on what it does not know.
    named = {"customer": sign_in["customer"]} if sign_in["customer"] else {}
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce="n-1", **named
    )
    back = Browser(ISSUER, sign_in["email"], os.environ["PASSWORD"]).open(address)
    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=back, code_verifier=VERIFIER, state=state
    )
    expected = sign_in["claims"]
    claims = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"]).claims
    assert (claims["email"], told(claims, expected)) == (sign_in["email"], expected), claims
    renewed = session.refresh_token(metadata["token_endpoint"], tokens["refresh_token"])
    described = session.introspect_token(metadata["introspection_endpoint"], renewed["access_token"]).json()
    for answer in (session.get(metadata["userinfo_endpoint"]).json(), described):
        assert told(answer, expected) == expected, answer
sys.stdout.write("all customers\n")
