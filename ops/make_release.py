"""Make the files of a release from the last commit (`ops/release`), the same bytes in every run on one Python.

    gatehouse-VERSION-py3-none-any.whl     the program
    requirements.lock                      every package that it needs, with hashes
    gatehouse-VERSION-operations.tar.gz    the image, compose, Kubernetes, systemd, proxies, roles and the manual
    gatehouse-VERSION.cdx.json             what is in it (an SBOM in the format CycloneDX)
    SHA256SUMS

It refuses a tree with changes, a version that the changelog lacks, and changes that have no version yet. It needs the
standard library alone, and downloads the tools of `requirements-release.lock` once.
"""

import argparse
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".gatehouse-release"
LOCK = Path("ops") / "requirements-release.lock"
COMMAND_SECONDS_MAX = 600
HASH_CHARACTERS = 12
# What a machine that runs Gatehouse needs of the repository, beside the wheel.
OPERATIONS = (
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "actors",
    "adapters",
    "core",
    "entrypoints",
    "ports",
    "ops/Dockerfile",
    "ops/Dockerfile.dockerignore",
    "ops/build_argon2.py",
    "ops/compose.yaml",
    "ops/database",
    "ops/docs",
    "ops/gatehouse.env.example",
    "ops/image-start",
    "ops/kubernetes",
    "ops/proxies",
    "ops/requirements-build.lock",
    "ops/requirements.lock",
    "ops/runbooks",
    "ops/systemd",
)
BASE = re.compile(r"python:\d+\.\d+\.\d+-[a-z-]+(?:@sha256:[0-9a-f]{64})?")


class ReleaseRefusedError(Exception):
    """The release cannot be made; the message says what to do."""


def main() -> int:
    """Make the release; return the exit status."""
    parser = argparse.ArgumentParser(prog="ops/release", description="Make the files of a release.")
    parser.add_argument("--into", type=Path, help="the folder, which must not exist yet; by default dist/VERSION")
    parser.add_argument("--base", help="the base of the image, such as python:3.13.14-slim-bookworm@sha256:…")
    options = parser.parse_args()
    # What building writes takes its modes from it, and the wheel has them.
    os.umask(0o022)
    try:
        if not (3, 11) <= sys.version_info[:2] <= (3, 13):
            raise ReleaseRefusedError("Python 3.11, 3.12 or 3.13 is required. Set PYTHON=/path/to/python3.")
        version = releasable_version()
        into = (options.into or ROOT / "dist" / version).absolute()
        if into.exists():
            raise ReleaseRefusedError(f"{into} exists already. Delete it, or name another folder with --into.")
        make(version, into, options.base)
    except ReleaseRefusedError as refusal:
        print(f"release: {refusal}", file=sys.stderr)
        return 1
    print(f"release: {version} is in {into}")
    return 0


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


def make(version: str, into: Path, base: str | None) -> None:
    """Make every file aside, then put the folder in place."""
    # The time of everything that has one, so that the same commit gives the same bytes.
    moment = int(output("git", "log", "-1", "--format=%ct").strip())
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gatehouse-release-", dir=into.parent) as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        made.mkdir()
        export(source)
        if base is not None:
            rebase(source / "ops" / "Dockerfile", base)
        tools = installed_tools()
        build_wheel(tools, source, made, moment)
        shutil.copyfile(source / "ops" / "requirements.lock", made / "requirements.lock")
        pack(source, made / f"gatehouse-{version}-operations.tar.gz", f"gatehouse-{version}", moment)
        list_packages(tools, source, made / f"gatehouse-{version}.cdx.json", moment)
        sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(made.iterdir())]
        (made / "SHA256SUMS").write_text("".join(sums))
        made.rename(into)


def export(folder: Path) -> None:
    """Write the files of the last commit, and no others, into a folder."""
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    run("git", "-c", "tar.umask=0022", "archive", "--format=tar", f"--output={archive}", "HEAD", cwd=ROOT)
    run("tar", "--extract", "--preserve-permissions", f"--file={archive}", cwd=folder)


def rebase(dockerfile: Path, base: str) -> None:
    """Replace the base of both stages of the image."""
    if not BASE.fullmatch(base):
        raise ReleaseRefusedError(
            f"{base} is not one version of Python, such as python:3.13.14-slim-bookworm@sha256:…."
        )
    text, count = re.subn(r"^FROM python:\S+", f"FROM {base}", dockerfile.read_text(), flags=re.MULTILINE)
    assert count == 2, "the image has two stages"
    dockerfile.write_text(text)


def installed_tools() -> Path:
    """Return the programs that make a release, installed by their lock; once for each lock and Python."""
    mark = hashlib.sha256((ROOT / LOCK).read_bytes() + sys.version.encode()).hexdigest()[:HASH_CHARACTERS]
    folder = TOOLS / mark
    if not (folder / "ready").exists():
        shutil.rmtree(TOOLS, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = (
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "-qq",
            "--no-compile",
        )
        run(*pip, "--require-hashes", "-r", str(ROOT / LOCK), cwd=folder)
        (folder / "ready").touch()
    return folder / "bin"


def build_wheel(tools: Path, source: Path, into: Path, moment: int) -> None:
    """Build the wheel by the locked setuptools, without the network."""
    command = ("-m", "pip", "--disable-pip-version-check", "wheel", "-qq", "--no-deps", "--no-build-isolation")
    run(str(tools / "python"), *command, "--no-index", "--wheel-dir", str(into), ".", cwd=source, moment=moment)


def list_packages(tools: Path, source: Path, into: Path, moment: int) -> None:
    """Write which packages are in the release, with the hashes of the lock."""
    options = ("--output-reproducible", "--output-format", "JSON", "--output-file", str(into))
    names = ("--pyproject", "pyproject.toml", "ops/requirements.lock")
    run(str(tools / "cyclonedx-py"), "requirements", *options, *names, cwd=source, moment=moment)


def pack(source: Path, into: Path, top: str, moment: int) -> None:
    """Write an archive whose bytes depend on nothing but the names, the modes and the contents of its files."""
    files = sorted(file for name in OPERATIONS for file in files_of(source / name))

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = moment
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with (
        into.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in files:
            archive.add(file, f"{top}/{file.relative_to(source)}", recursive=False, filter=plain)


def files_of(path: Path) -> list[Path]:
    """Return a file, or all files below a folder; what building left behind is not among them."""
    if path.is_file():
        return [path]
    found = [file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert found, f"{path} is not in the repository any more"
    return found


def output(*command: str) -> str:
    """Return what a command in the repository prints."""
    return run(*command, cwd=ROOT).decode()


def run(*command: str, cwd: Path, moment: int | None = None) -> bytes:
    """Run a command to its end and return its output; raise `ReleaseRefusedError` when it fails."""
    # Settings of the user that would install elsewhere, or change what is built.
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GATEHOUSE_"))}
    given |= {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    if moment is not None:
        given["SOURCE_DATE_EPOCH"] = str(moment)
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=given,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=COMMAND_SECONDS_MAX,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise ReleaseRefusedError(f"{' '.join(command)} failed:\n{said}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
