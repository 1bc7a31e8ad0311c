"""joserfc as a second reader: for each line, a token and a set of keys, its claims; null when it refuses it.

It is run by the Python of the peer.
"""

import importlib
import json
import sys
import warnings
from typing import Any

jws: Any = importlib.import_module("joserfc.jws")
jwk: Any = importlib.import_module("joserfc.jwk")
errors: Any = importlib.import_module("joserfc.errors")

warnings.simplefilter("ignore")  # The library calls EdDSA deprecated, which is widely used.

# Header parameters that are not known are ignored, as RFC 7515, 4 has it.
registry = jws.JWSRegistry(algorithms=["RS256", "PS256", "ES256", "EdDSA"], strict_check_header=False)


def claims_of(token: str, keys: list[dict[str, str]]) -> Any:
    """Return what one of the keys has signed; the library takes one key, and none by chance from a set."""
    for key in keys:
        try:
            read = jws.deserialize_compact(token, jwk.import_key(key), registry=registry)
            claims = json.loads(read.payload)
        except (errors.JoseError, ValueError, KeyError, TypeError, AttributeError):
            continue
        if isinstance(claims, dict) and read.headers().get("kid", key["kid"]) == key["kid"]:
            return claims
    return None


for line in sys.stdin:
    sys.stdout.write(json.dumps(claims_of(*json.loads(line))) + "\n")
    sys.stdout.flush()
