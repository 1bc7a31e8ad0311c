"""The list of packages of a release: what of it has to agree with the lock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

Package = tuple[str, frozenset[str]]
# A line of the lock with the lines of its hashes.
_LOCKED: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)((?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *(?:#[^\n]*)?$", re.MULTILINE)
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def locked(lock: str) -> dict[str, Package]:
    """Return the version and the hashes of each package of a lock, by its name."""
    return {found[1]: (found[2], frozenset(_HASH.findall(found[3]))) for found in _LOCKED.finditer(lock)}


def strange_lines(lock: str) -> list[str]:
    """Return what is neither a package with its version nor a comment, such as an option or an address for pip."""
    return [line for line in _COMMENT.sub("", _LOCKED.sub("", lock)).split("\n") if line]


def components(sbom: Any) -> dict[str, Package]:
    """Return the version and the hashes of each component of a list of packages, by its name."""
    return {
        one["name"]: (
            one["version"],
            frozenset(
                digest["content"]
                for reference in one.get("externalReferences", ())
                for digest in reference.get("hashes", ())
                if digest["alg"] == "SHA-256"
            ),
        )
        for one in sbom["components"]
    }


def purls(sbom: Any) -> set[str]:
    """Return the package URL of each component."""
    return {one["purl"] for one in sbom["components"]}


def problems(sbom: Any, lock: str, version: str) -> Iterator[str]:
    """Say in what a list of packages differs from the lock, and from the version that it is of."""
    subject = sbom["metadata"]["component"]
    if (sbom["bomFormat"], subject["name"], subject["version"]) != ("CycloneDX", "gatehouse", version):
        yield f"it is of {subject['name']} {subject['version']}, and not of gatehouse {version}"
    listed, expected = components(sbom), locked(lock)
    if len(listed) != len(sbom["components"]):
        yield "it has a package more than once"
    for name in sorted(listed.keys() | expected.keys()):
        if name not in listed:
            yield f"it lacks {name}, which requirements.lock has"
        elif name not in expected:
            yield f"it has {name}, which requirements.lock lacks"
        elif listed[name][0] != expected[name][0]:
            yield f"it has {name} {listed[name][0]}, and requirements.lock {expected[name][0]}"
        elif listed[name][1] != expected[name][1] or not expected[name][1]:
            yield f"the hashes of {name} are not those of requirements.lock"
    yield from _form_problems(sbom, lock)


def _form_problems(sbom: Any, lock: str) -> Iterator[str]:
    """Say what pip or a scanner would read beside the names, versions and hashes that were compared."""
    if strange := strange_lines(lock):
        yield f"requirements.lock has a line that is no package with its version: {strange[0]}"
    for one in sbom["components"]:
        if one["purl"] != f"pkg:pypi/{one['name']}@{one['version']}" or "components" in one:
            yield f"the package URL of {one['name']} is another one's, or it contains others"
