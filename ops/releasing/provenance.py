"""From what, and how, the files of a release were made: a statement of in-toto with a predicate of SLSA 1.0.

It is the same in every run, so it has no times and no machine. What signs it is the signature of the checksums.
"""

from __future__ import annotations

import json
import platform
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://slsa.dev/provenance/v1"
# What these two mean is said in ops/decisions/0075-proof-of-a-release.md.
BUILD_TYPE: Final = "urn:gatehouse:release:build:1"
BUILDER: Final = "urn:gatehouse:release:builder:ops-release"
SOURCE: Final = "urn:gatehouse:source"
LOCKS: Final = ("ops/requirements.lock", "ops/requirements-build.lock", "ops/requirements-release.lock")
BASE: Final = re.compile(r"python:\d+\.\d+\.\d+-[a-z-]+(?:@sha256:([0-9a-f]{64}))?")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_NUMBERS: Final = re.compile(r"[0-9a-z.+-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
# Of a host or of a folder nothing may be in a URI of it.
_URI: Final = re.compile(r"urn:gatehouse:[a-z0-9:./-]+|pkg:docker/python@[\w.-]+")


@dataclass(frozen=True, slots=True)
class Origin:
    """What a release was made from."""

    version: str
    commit: str
    base: str | None
    python: str
    zlib: str


def here() -> tuple[str, str]:
    """Return the versions of Python and of its zlib, on which the bytes of wheels and archives depend."""
    return platform.python_version(), zlib.ZLIB_RUNTIME_VERSION


def statement(origin: Origin, *, subjects: Mapping[str, str], locks: Mapping[str, str]) -> str:
    """Return the document; `subjects` and `locks` are SHA-256 in hexadecimal, by the name and by the path of a file."""
    external = {"version": origin.version} | ({} if origin.base is None else {"base": origin.base})
    dependencies = [
        {"uri": SOURCE, "digest": {"gitCommit": origin.commit}},
        *({"uri": f"{SOURCE}:{path}", "digest": {"sha256": digest}} for path, digest in sorted(locks.items())),
        *_image(origin.base),
    ]
    document = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subjects.items())],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": external,
                "internalParameters": {"python": origin.python, "zlib": origin.zlib},
                "resolvedDependencies": dependencies,
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def origin_of(document: Any) -> Origin:
    """Return what a release says that it was made from; raise `ValueError` when that cannot be used."""
    definition = document["predicate"]["buildDefinition"]
    external, internal = definition["externalParameters"], definition["internalParameters"]
    commits = [one["digest"]["gitCommit"] for one in definition["resolvedDependencies"] if one["uri"] == SOURCE]
    if len(commits) != 1 or not _COMMIT.fullmatch(commits[0]):
        raise ValueError("it does not name one commit of the source")
    base = external.get("base")
    if base is not None and not BASE.fullmatch(base):
        raise ValueError(f"its base {base} is not one version of Python")
    origin = Origin(external["version"], commits[0], base, internal["python"], internal["zlib"])
    if not all(_NUMBERS.fullmatch(number) for number in (origin.python, origin.zlib)):
        raise ValueError("its Python or its zlib is no version")
    return origin


def problems(document: Any, *, version: str, subjects: Mapping[str, str], lock: str) -> Iterator[str]:
    """Say what is wrong with a statement about a release: its files, and its lock, by their SHA-256."""
    if (document["_type"], document["predicateType"]) != (STATEMENT, PREDICATE):
        yield "it is no statement of in-toto with a provenance of SLSA 1.0"
    definition, builder = document["predicate"]["buildDefinition"], document["predicate"]["runDetails"]["builder"]["id"]
    if (definition["buildType"], builder) != (BUILD_TYPE, BUILDER):
        yield f"its builder {builder} and its kind {definition['buildType']} are not those of ops/release"
    if definition["externalParameters"]["version"] != version:
        yield f"it is of {definition['externalParameters']['version']}, and not of {version}"
    named = {one["name"]: one["digest"]["sha256"] for one in document["subject"]}
    for name in sorted(named.keys() | subjects.keys()):
        if named.get(name) != subjects.get(name):
            yield f"its checksum of {name} is not that of the file"
    yield from _dependency_problems(definition, lock)
    expected = statement(origin_of(document), subjects=subjects, locks=_locks_in(definition))
    if document != json.loads(expected):
        yield "it says something that ops/release does not write"


def _locks_in(definition: Any) -> dict[str, str]:
    dependencies = {one["uri"]: one["digest"] for one in definition["resolvedDependencies"]}
    found = {path: dependencies.get(f"{SOURCE}:{path}", {}).get("sha256") for path in LOCKS}
    return {path: digest for path, digest in found.items() if _DIGEST.fullmatch(str(digest))}


def _dependency_problems(definition: Any, lock: str) -> Iterator[str]:
    dependencies = {one["uri"]: one["digest"] for one in definition["resolvedDependencies"]}
    for path in LOCKS:
        if f"{SOURCE}:{path}" not in dependencies:
            yield f"it does not name {path}"
    if dependencies.get(f"{SOURCE}:{LOCKS[0]}", {}).get("sha256") != lock:
        yield f"its checksum of {LOCKS[0]} is not that of requirements.lock"
    for uri in dependencies:
        if not _URI.fullmatch(uri):
            yield f"it names {uri}, which is neither the source nor the base of the image"


def _image(base: str | None) -> Iterator[dict[str, object]]:
    """Yield the base of the image, if its digest is known."""
    found = None if base is None else BASE.fullmatch(base)
    if base is not None and found is not None and found[1] is not None:
        tag = base.removeprefix("python:").partition("@")[0]
        yield {"uri": f"pkg:docker/python@{tag}", "digest": {"sha256": found[1]}}
