"""Check the files of a release: their signature, what they say of each other, and that their commit gives them."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ops.releasing import provenance, sbom, signing, tools, vex
from ops.releasing.commands import ROOT, ReleaseRefusedError, run
from ops.releasing.names import LOCK, SIGNATURE, SUMS, Names, is_client_wheel, version_in

REBUILD_SECONDS_MAX: Final = 1800


def verify(folder: Path, *, public_key: str | None) -> provenance.Origin:
    """Check everything that needs no build, and return what the release was made from; raise `ReleaseRefusedError`."""
    if not (folder / SUMS).is_file():
        raise ReleaseRefusedError(f"{folder} has no {SUMS}. Name the folder with the files of a release.")
    if strange := [one.name for one in folder.iterdir() if one.is_symlink() or not one.is_file()]:
        raise ReleaseRefusedError(f"{', '.join(strange)}: a release has files alone. Remove what is none.")
    _refuse(signing.signature_problems(folder, public_key))
    _refuse(signing.sum_problems(_text(folder, SUMS), signing.digests(folder)))
    _refuse(_name_problems(folder))
    version = version_in(folder)
    assert version is not None, "the names were checked"
    _refuse(_content_problems(folder, Names(version)))
    origin = provenance.origin_of(_json(folder, Names(version).provenance))
    if public_key is not None:
        expected, said = signing.comment(origin.version, origin.commit), signing.signed_comment(folder, public_key)
        if said != expected:
            raise ReleaseRefusedError(
                f'{SIGNATURE}: it is of "{said}", and the files of "{expected}". Fetch the signature of this version.'
            )
    return origin


def rebuild(folder: Path, origin: provenance.Origin) -> None:
    """Make the files again from their commit in a fresh folder; raise `ReleaseRefusedError` unless all are the same."""
    if (origin.python, origin.zlib) != provenance.here():
        here = " and zlib ".join(provenance.here())
        raise ReleaseRefusedError(
            f"the files were made on Python {origin.python} and zlib {origin.zlib}, and this is Python {here},"
            f" whose bytes may differ. Set PYTHON=/path/to/python of that version, or add --without-rebuild."
        )
    try:
        run("git", "cat-file", "-e", f"{origin.commit}^{{commit}}", cwd=ROOT)
    except ReleaseRefusedError:
        raise ReleaseRefusedError(
            f"this repository has no commit {origin.commit}. Run git fetch, and try again."
        ) from None
    with tempfile.TemporaryDirectory(prefix="gatehouse-rebuild-") as scratch:
        source, made = Path(scratch) / "source", Path(scratch) / "made"
        run("git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(source), cwd=Path(scratch))
        run("git", "checkout", "--quiet", "--detach", origin.commit, cwd=source)
        base = () if origin.base is None else ("--base", origin.base)
        run(
            *(str(source / "ops" / "release"), "--into", str(made), *base),
            cwd=Path(scratch),
            settings={"PYTHON": sys.executable, "RELEASE_TOOLS": str(tools.folder_of_all())},
            seconds_max=REBUILD_SECONDS_MAX,
        )
        _refuse(differences(folder, made, origin.commit))


def _name_problems(folder: Path) -> Iterator[str]:
    """Say which files a release has not, or has too many of."""
    version = version_in(folder)
    if version is None:
        yield "there is not one list of packages (gatehouse-VERSION.cdx.json). Fetch the files of one version."
        return
    found = {file.name for file in folder.iterdir()} - {SUMS, SIGNATURE}
    clients = {name for name in found if is_client_wheel(name)}
    if len(clients) != 1:
        yield "there is not one wheel of gatehouse_client. Fetch the files of one version."
    for name in sorted(Names(version).all - found):
        yield f"{name}: it is missing, also in {SUMS}. Fetch the files of {version} again."
    for name in sorted(found - Names(version).all - clients):
        yield f"{name}: it is no part of a release. Ask who made this one."


def _content_problems(folder: Path, names: Names) -> Iterator[str]:
    """Say what the documents of a release say wrongly of it."""
    digests = signing.digests(folder)
    subjects = {name: digest for name, digest in digests.items() if name != names.provenance}
    lock, product = _text(folder, LOCK), f"{vex.PRODUCT}@{names.version}"

    def of_vex(document: Any) -> Iterator[str]:
        packages = sbom.purls(_json(folder, names.sbom))
        return vex.problems(document, product=product, packages=packages)

    def of_provenance(document: Any) -> Iterator[str]:
        yield from provenance.problems(document, version=names.version, subjects=subjects, lock=digests[LOCK])
        provenance.origin_of(document)

    yield from _checked(folder, names.sbom, lambda document: sbom.problems(document, lock, names.version))
    yield from _checked(folder, names.vex, of_vex)
    yield from _checked(folder, names.provenance, of_provenance)


def _checked(folder: Path, name: str, problems: Callable[[Any], Iterator[str]]) -> Iterator[str]:
    """Yield the problems of a document, after its name and with what to do."""
    advice = "Fetch the files again; if it stays so, do not use them, and ask who made them."
    try:
        yield from [f"{name}: {problem}. {advice}" for problem in problems(_json(folder, name))]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        yield f"{name}: it cannot be read as what it should be ({error}). {advice}"


def differences(folder: Path, made: Path, commit: str) -> Iterator[str]:
    """Name the files of a release that differ from what its commit makes; the signature belongs to no commit."""
    released = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != SIGNATURE}
    again = {file.name: file.read_bytes() for file in made.iterdir()}
    for name in sorted(released.keys() | again.keys()):
        if released.get(name) != again.get(name):
            yield (
                f"{name}: the commit {commit} gives another file. Do not use it, and ask who made it. If you did, make"
                " it again in a fresh clone."
            )


def _json(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"), object_pairs_hook=_unique)


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these members; two programs may read one with a name twice as different ones."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("an object has one name twice")
    return found


def _text(folder: Path, name: str) -> str:
    """Return a text that is compared, with its ends of lines; what cannot be decoded equals nothing."""
    return (folder / name).read_bytes().decode(errors="replace")


def _refuse(problems: Iterator[str]) -> None:
    if found := list(problems):
        raise ReleaseRefusedError("\n".join(found))
