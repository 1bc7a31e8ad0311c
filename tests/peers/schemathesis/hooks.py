"""What schemathesis cannot know from the document: existing objects, addresses as people have them, what 400 means."""

import importlib
import json
import os
from typing import Any
from urllib.request import Request, urlopen

from hypothesis import strategies as st

# Installed for the peer only, whose folder has the same name.
schemathesis: Any = importlib.import_module("schemathesis")

BASE_URL = os.environ["PEER_BASE_URL"]
EMAIL = os.environ.get("PEER_EMAIL", "")
PASSWORD = os.environ.get("PEER_PASSWORD", "")
SLUG = os.environ["PEER_SLUG"]
USER_IDS = os.environ["PEER_USER_IDS"].split()
# The request may end the session of the one before.
SESSION_SECONDS_MAX = 1
SIGN_IN_SECONDS_MAX = 60
# Fields whose valid values depend on other fields, or on what is stored.
DEPENDENT_FIELDS = ("new_owner_user_id", "org_slug", "service_slug", "redirect_uri", "role", "slug", "target_type")

words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
schemathesis.openapi.format("email", st.builds("{}@{}.example".format, words, words))
schemathesis.openapi.format("uri", st.builds("https://{}.example/{}".format, words, words))


@schemathesis.hook
def flatmap_path_parameters(context, path_parameters):
    """Name existing objects in most of the paths, but delete no organization."""
    if not path_parameters or (context.operation.method == "delete" and context.operation.path.endswith("{slug}")):
        return st.just(path_parameters)
    known = {"slug": [SLUG, SLUG], "org_slug": [SLUG, SLUG], "user_id": USER_IDS}
    return st.fixed_dictionaries(
        {name: st.sampled_from([*known.get(name, []), value]) for name, value in path_parameters.items()}
    )


if EMAIL:

    @schemathesis.auth(refresh_interval=SESSION_SECONDS_MAX)
    class SignIn:
        """Signs in again and again."""

        def get(self, case, context):
            """Return an access token."""
            body = json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
            request = Request(f"{BASE_URL}/api/auth/login", body, {"Content-Type": "application/json"})
            with urlopen(request, timeout=SIGN_IN_SECONDS_MAX) as answer:
                return json.load(answer)["access_token"]

        def set(self, case, token, context):
            """Send the token."""
            case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.check
def valid_input_is_not_called_invalid(context, response, case):
    """A 400 that names fields is for input which the document does not allow; others have reasons of their own."""
    if case.meta is None or case.meta.generation.mode.value != "positive" or response.status_code != 400:
        return
    if "json" not in response.headers.get("Content-Type", ""):
        return
    invalid = [one["field"] for one in response.json().get("details", []) if one["field"] not in DEPENDENT_FIELDS]
    if invalid:
        raise AssertionError(f"valid input was refused: {response.text}")
