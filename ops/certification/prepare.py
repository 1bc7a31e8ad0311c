"""Makes the services of a profile at an installation, and writes the configuration for the foundation's suite.

    GATEHOUSE_KEY=gk_… .venv/bin/python -m ops.certification.prepare basic \
        --base-url https://id.example.com --organization certification

The key is one of the organization, with the capability `services.create`. What is written has the secrets of these
services, and the foundation publishes it with the results: delete the services when the certification is through.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from ops.certification.profiles import FOLDER, PROFILES

SUITE: Final = "https://www.certification.openid.net"
ALIAS: Final = "gatehouse"
SECONDS_MAX: Final = 30.0
_OWN_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
_SLUG: Final = re.compile(r"[a-z0-9-]+")


class CannotPrepare(Exception):
    """Something is missing; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare a profile; return the status."""
    parser = argparse.ArgumentParser(prog="ops.certification.prepare", description="Prepare a certification.")
    parser.add_argument("profile", choices=[profile.folder for profile in PROFILES])
    parser.add_argument("--base-url", required=True, help="the base URL of the installation")
    parser.add_argument("--organization", required=True, help="the slug of the organization that gets the services")
    parser.add_argument("--suite", default=SUITE, help=f"where the suite runs; {SUITE} by default")
    parser.add_argument("--into", type=Path, default=Path("config.json"), help="the file; config.json by default")
    options = parser.parse_args(arguments)
    base_url = options.base_url.rstrip("/")
    try:
        _require_safe(base_url, options.organization)
        if options.into.exists() or options.into.is_symlink():
            raise CannotPrepare(f"{options.into} exists already. Delete it, or name another file with --into.")
        values = _values(options.profile, base_url, options.organization, options.suite.rstrip("/"))
    except CannotPrepare as refusal:
        print(f"certification: {refusal}", file=sys.stderr)
        return 1
    template = json.loads((FOLDER / options.profile / "config.json").read_text())
    # New, and readable by its owner alone from the beginning: it has secrets.
    with os.fdopen(os.open(options.into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(json.dumps(filled(template, values), indent=2) + "\n")
    print(f"certification: {options.into} is ready; go on as {FOLDER.name}/{options.profile}/README.md says")
    return 0


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a document with values for each `${name}`, within a text or as the whole text."""
    if isinstance(template, dict):
        members = cast("dict[str, Any]", template)
        return {name: filled(value, values) for name, value in members.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in cast("list[Any]", template)]
    if not isinstance(template, str):
        return template
    for name, value in values.items():
        if template == f"${{{name}}}":
            return value
        if isinstance(value, str):
            template = template.replace(f"${{{name}}}", value)
    return template


def _require_safe(base_url: str, organization: str) -> None:
    """Raise `CannotPrepare` where the key would go to another address, or over the network in clear."""
    parts = urlsplit(base_url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _OWN_MACHINE)
    if not is_safe or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment:
        raise CannotPrepare(
            "The base URL is not an https address. Give that of the installation, and nothing after it."
        )
    if not _SLUG.fullmatch(organization):
        raise CannotPrepare(
            "The organization is no slug. Give the word that its addresses have, such as certification."
        )


def _values(profile: str, base_url: str, organization: str, suite: str) -> dict[str, Any]:
    """Make the services of a profile, and return what its configuration needs."""
    values: dict[str, Any] = {"base_url": base_url, "suite": f"{suite}/test/a/{ALIAS}", "alias": ALIAS}
    services = json.loads((FOLDER / profile / "services.json").read_text())
    for name in services:
        private, public = _keys(name)
        values |= {f"{name}.private_keys": private, f"{name}.public_keys": public}
    with httpx.Client(base_url=base_url, timeout=SECONDS_MAX, headers={"X-Api-Key": _key()}) as client:
        for name, wanted in services.items():
            answer = client.post(f"/api/organizations/{organization}/services", json=filled(wanted, values))
            if not answer.is_success:
                raise CannotPrepare(f"the installation refuses the service {wanted['slug']}: {answer.text}")
            made = answer.json()
            values[f"{name}.client_id"] = made["service"]["client_id"]
            values[f"{name}.client_secret"] = made.get("client_secret")
    return values


def _key() -> str:
    try:
        return os.environ["GATEHOUSE_KEY"]
    except KeyError:
        raise CannotPrepare(
            "GATEHOUSE_KEY is not set. Create a key of the organization with the capability services.create, and set it"
            " to that."
        ) from None


def _keys(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a new key for the assertions of a client, with its private part and without."""
    key = ec.generate_private_key(ec.SECP256R1())
    described = {"kid": name, "use": "sig", "alg": "ES256"}
    private = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(key, as_dict=True) | described
    public = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(key.public_key(), as_dict=True) | described
    members = ("kty", "crv", "x", "y", *described)
    return {"keys": [private]}, {"keys": [{member: public[member] for member in members}]}


if __name__ == "__main__":
    sys.exit(main())
