"""The command `ops/release`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ops.releasing import making, signing, verifying
from ops.releasing.commands import ROOT, ReleaseRefusedError
from ops.releasing.names import SIGNATURE, SUMS


def main(arguments: Sequence[str]) -> int:
    """Make or check a release; return the exit status."""
    # What building writes takes its modes from it, and the wheels have them.
    os.umask(0o022)
    try:
        if arguments[:1] == ["verify"]:
            _verify(_verify_parser().parse_args(arguments[1:]))
        else:
            _make(_make_parser().parse_args(arguments))
    except ReleaseRefusedError as refusal:
        print(f"release: {refusal}", file=sys.stderr)
        return 1
    return 0


def _make(options: argparse.Namespace) -> None:
    version = making.releasable_version()
    into = (options.into or ROOT / "dist" / version).absolute()
    if into.exists():
        raise ReleaseRefusedError(f"{into} exists already. Delete it, or name another folder with --into.")
    if options.key is not None:
        signing.require(options.key)
    commit = making.make(version, into, base=options.base)
    print(f"release: {version} is in {into}")
    said = signing.comment(version, commit)
    if options.key is not None:
        signing.sign(into, options.key.absolute(), said)
    else:
        print("release: it is not signed. Sign it where the key is, in that folder:")
        print(f"  minisign -S -s KEY -m {SUMS} -x {SIGNATURE} -t '{said}'")


def _verify(options: argparse.Namespace) -> None:
    folder = options.folder.absolute()
    origin = verifying.verify(folder, public_key=options.public_key)
    if not options.without_rebuild:
        verifying.rebuild(folder, origin)
    how = "is signed by the key" if options.public_key else "is NOT signed, and anyone may have made it"
    again = "was not made again" if options.without_rebuild else "gives the same bytes again"
    print(f"release: {origin.version} {how}; all files agree, and the commit {origin.commit} {again}.")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/release",
        description="Make the files of a release.",
        epilog="`ops/release verify FOLDER` checks those of one: see `ops/release verify --help`.",
    )
    parser.add_argument("--into", type=Path, help="the folder, which must not exist yet; by default dist/VERSION")
    parser.add_argument("--base", help="the base of the image, such as python:3.13.14-slim-bookworm@sha256:…")
    parser.add_argument("--key", type=Path, help="the secret key of minisign that signs the checksums")
    return parser


def _verify_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ops/release verify", description="Check the files of a release, and make them again from their commit."
    )
    parser.add_argument("folder", type=Path, help="where the files are, with SHA256SUMS")
    parser.add_argument("--public-key", metavar="FILE|KEY", help="the public key of minisign, or a file with it")
    parser.add_argument("--without-rebuild", action="store_true", help="do not make the files again")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
