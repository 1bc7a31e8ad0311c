"""Make the files of a release from the last commit, the same bytes in every run on one Python.

    gatehouse-VERSION-py3-none-any.whl     the program
    gatehouse_client-….whl                 the Python package for services
    requirements.lock                      every package that the program needs, with hashes
    gatehouse-VERSION-operations.tar.gz    the image, compose, Kubernetes, systemd, proxies, roles and the manual
    gatehouse-VERSION.cdx.json             what is in it (an SBOM in the format CycloneDX)
    gatehouse-VERSION.openvex.json         what is known of vulnerabilities of these packages (OpenVEX)
    gatehouse-VERSION.intoto.json          from what it was made (provenance of SLSA)
    SHA256SUMS, SHA256SUMS.minisig         the checksums, and their signature

It refuses a tree with changes, a version that the changelog lacks, and changes that have no version yet. It downloads
the tools of `requirements-release.lock` once.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from pathlib import Path

from ops.releasing import archive, provenance, sbom, signing, tools, vex
from ops.releasing.commands import ROOT, ReleaseRefusedError, output, run
from ops.releasing.names import LOCK, SUMS, Names


def releasable_version() -> str:
    """Return the version; raise `ReleaseRefusedError` unless the commit is one of a release."""
    if changed := output("git", "status", "--porcelain").strip():
        raise ReleaseRefusedError(f"the tree has changes that are in no commit. Commit or stash them:\n{changed}")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        raise ReleaseRefusedError(
            f"CHANGELOG.md has no section {version} with a date. Write it, or correct pyproject.toml."
        )
    unreleased = re.search(r"^## Unreleased$(.*?)^## ", changelog, re.MULTILINE | re.DOTALL)
    if unreleased is not None and unreleased[1].strip():
        raise ReleaseRefusedError(
            f"CHANGELOG.md has changes after {version} that are not released. Give them a version, there and in"
            " pyproject.toml."
        )
    return version


def make(version: str, into: Path, *, base: str | None) -> str:
    """Make every file aside, then put the folder in place; return the commit."""
    commit = output("git", "rev-parse", "HEAD").strip()
    # The time of everything that has one, so that the same commit gives the same bytes.
    moment = int(output("git", "log", "-1", "--format=%ct").strip())
    names = Names(version)
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gatehouse-release-", dir=into.parent) as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        made.mkdir()
        export(source)
        if base is not None:
            rebase(source / "ops" / "Dockerfile", base)
        programs = tools.installed()
        # The archive first, because building leaves folders behind.
        archive.pack(source, made / names.operations, f"gatehouse-{version}", moment)
        tools.build_wheel(programs, source, made, moment)
        tools.build_wheel(programs, source / tools.CLIENT, made, moment)
        shutil.copyfile(source / "ops" / "requirements.lock", made / LOCK)
        tools.list_packages(programs, source, made / names.sbom, moment)
        write_vex(source, made, names)
        python, zlib = provenance.here()
        statement = provenance.statement(
            provenance.Origin(version, commit, base, python, zlib),
            subjects=signing.digests(made),
            locks={path: hashlib.sha256((source / path).read_bytes()).hexdigest() for path in provenance.LOCKS},
        )
        (made / names.provenance).write_text(statement)
        refuse_names_of(made, Path(folder).name)
        (made / SUMS).write_text(signing.sums(signing.digests(made)))
        made.rename(into)
    return commit


def write_vex(source: Path, made: Path, names: Names) -> None:
    """Write what is known of vulnerabilities, if it is of the packages that are listed."""
    text = vex.released((source / vex.SOURCE).read_text(), names.version)
    packages = sbom.purls(json.loads((made / names.sbom).read_text()))
    product = f"{vex.PRODUCT}@{names.version}"
    if wrong := list(vex.problems(json.loads(text), product=product, packages=packages)):
        raise ReleaseRefusedError(
            f"{vex.SOURCE} is wrong. Read its statements again, and correct it:\n" + "\n".join(wrong)
        )
    (made / names.vex).write_text(text)


def refuse_names_of(made: Path, folder: str) -> None:
    """Raise `ReleaseRefusedError` when a file names the folder in which it was made."""
    if named := list(archive.naming(made, folder.encode())):
        raise ReleaseRefusedError(
            "these name the folder in which they were made. Find what writes it:\n" + "\n".join(named)
        )


def export(folder: Path) -> None:
    """Write the files of the last commit, and no others, into a folder."""
    folder.mkdir()
    packed = folder.with_suffix(".tar")
    run("git", "-c", "tar.umask=0022", "archive", "--format=tar", f"--output={packed}", "HEAD", cwd=ROOT)
    run("tar", "--extract", "--preserve-permissions", f"--file={packed}", cwd=folder)


def rebase(dockerfile: Path, base: str) -> None:
    """Replace the base of both stages of the image."""
    if not provenance.BASE.fullmatch(base):
        raise ReleaseRefusedError(
            f"{base} is not one version of Python, such as python:3.13.14-slim-bookworm@sha256:…."
        )
    text, count = re.subn(r"^FROM python:\S+", f"FROM {base}", dockerfile.read_text(), flags=re.MULTILINE)
    assert count == 2, "the image has two stages"
    dockerfile.write_text(text)
