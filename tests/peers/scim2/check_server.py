"""Checks a server by scim2-tester, and writes a line of JSON for each result.

    python check_server.py

It is run by the peer's own Python. The environment names the address of the server and the token.
"""

import importlib
import json
import os
import sys


def main(url: str, token: str) -> None:
    """Run all checks."""
    headers = {"Authorization": f"Bearer {token}"}
    client = importlib.import_module("httpx2").Client(base_url=url, headers=headers)
    scim = importlib.import_module("scim2_client.engines.httpx2").SyncSCIMClient(client)
    for result in importlib.import_module("scim2_tester").check_server(scim):
        names = {"status": result.status.name, "check": result.title, "type": result.resource_type}
        sys.stdout.write(json.dumps(names | {"reason": result.reason}) + "\n")


main(os.environ["SCIM_URL"], os.environ["SCIM_TOKEN"])
