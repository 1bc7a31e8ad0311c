"""A service provider that is made with python3-saml.

    python sp.py TASK

TASK is a file in JSON: `action`, `settings` of the library, the `request` of a browser as the library takes it, and the
id of the request to which the browser brings an answer. The result is written as JSON. It is run by the peer's own
Python.
"""

import importlib
import json
import sys
from pathlib import Path

library = importlib.import_module("onelogin.saml2.auth")
metadata = importlib.import_module("onelogin.saml2.idp_metadata_parser")

task = json.loads(Path(sys.argv[1]).read_text())
settings = metadata.OneLogin_Saml2_IdPMetadataParser.merge_settings(
    task["settings"], metadata.OneLogin_Saml2_IdPMetadataParser.parse(task["metadata"])
)
# The metadata do not ask for signed requests, which the library would obey.
settings["security"] = task["settings"]["security"]
auth = library.OneLogin_Saml2_Auth(task["request"], settings)
result = {}
match task["action"]:
    case "login":
        result = {"url": auth.login(return_to="https://shop.acme.example/start"), "id": auth.get_last_request_id()}
    case "acs":
        auth.process_response(request_id=task["id"])
        result = {
            "is_authenticated": auth.is_authenticated(),
            "name": auth.get_nameid(),
            "format": auth.get_nameid_format(),
            "index": auth.get_session_index(),
            "attributes": auth.get_attributes(),
        }
    case "logout":
        url = auth.logout(
            name_id=task["name"], session_index=task["index"], name_id_format=task["format"], return_to="/bye"
        )
        result = {"url": url, "id": auth.get_last_request_id()}
    case "slo":
        url = auth.process_slo(request_id=task["id"], keep_local_session=True)
        result = {"url": url}
    case unknown:
        raise ValueError(unknown)
sys.stdout.write(json.dumps({**result, "errors": auth.get_errors(), "reason": auth.get_last_error_reason()}))
