"""What is known of vulnerabilities of the packages: `ops/security/vex.json`, written by hand in the format OpenVEX.

Its statements name Gatehouse without a version, and each package with the version that was judged. So a lock with
another version of it is refused until its statement was read again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path("ops") / "security" / "vex.json"
CONTEXT: Final = "https://openvex.dev/ns/v0.2.0"
PRODUCT: Final = "pkg:pypi/gatehouse"
# The further fields that a statement with this status needs.
_REQUIRED: Final = {
    "not_affected": ("justification", "impact_statement"),
    "affected": ("action_statement",),
    "fixed": (),
    "under_investigation": (),
}


def released(text: str, version: str) -> str:
    """Return the document with the version of which its statements are, and the name of that document."""
    document = json.loads(text)
    document["@id"] = f"urn:gatehouse:vex:{version}"
    for product in _products(document):
        product["@id"] = f"{product['@id']}@{version}"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def problems(document: Any, *, product: str, packages: Collection[str]) -> Iterator[str]:
    """Say what is wrong with a document about a product of these packages (both are package URLs)."""
    if document.get("@context") != CONTEXT:
        yield f"its @context is not {CONTEXT}"
    if document.get("@id") != f"urn:gatehouse:vex:{product.rpartition('@')[2]}":
        yield f"its @id is not the one of {product}"
    if not document.get("author") or not isinstance(document.get("version"), int):
        yield "it has no author, or no version that is a number"
    yield from _timestamp_problems(document, "the document")
    for statement in document["statements"]:
        name = statement.get("vulnerability", {}).get("name", "")
        if not name:
            yield "a statement names no vulnerability"
        yield from _timestamp_problems(statement, f"the statement on {name}")
        status = statement.get("status")
        if status not in _REQUIRED:
            yield f"the status {status} of {name} is none of {', '.join(_REQUIRED)}"
        elif _REQUIRED[status] and not any(statement.get(field) for field in _REQUIRED[status]):
            yield f"the status {status} of {name} needs {' or '.join(_REQUIRED[status])}"
        yield from _package_problems(statement, name, product=product, packages=packages)


def _package_problems(statement: Any, name: str, *, product: str, packages: Collection[str]) -> Iterator[str]:
    products = statement.get("products", [])
    if [one["@id"] for one in products] != [product]:
        yield f"the statement on {name} is not of {product}"
    named = [package["@id"] for one in products for package in one.get("subcomponents", [])]
    if not named:
        yield f"the statement on {name} names no package"
    for package in named:
        if package not in packages:
            yield f"the statement on {name} names {package}, which is not in the list of packages"


def _timestamp_problems(dated: Any, what: str) -> Iterator[str]:
    try:
        has_zone = datetime.fromisoformat(dated["timestamp"]).tzinfo is not None
    except (KeyError, ValueError):
        has_zone = False
    if not has_zone:
        yield f"{what} has no timestamp with a time zone"


def _products(document: Any) -> Iterator[Any]:
    for statement in document["statements"]:
        yield from statement["products"]
