"""Build argon2-cffi-bindings for this processor and install it beside the interpreter that runs this.

The published wheel is compiled for the oldest x86-64 processor; built with the vector instructions that this one has,
the same source hashes two to three times as fast (ops/decisions/0002-argon2-build.md). If the build fails, the
published wheel stays and one line reports why.

    build_argon2.py              build or take from the cache, check, install
    build_argon2.py --plan       print what would be done and why, and do nothing
    build_argon2.py --into DIR   put every build that can be checked here into DIR/<instructions>, for the image
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "argon2-cffi-bindings"
MODULE = "_argon2_cffi_bindings"
COMMAND_SECONDS_MAX = 300

# Argon2's source has special code for each of these; the fastest comes first. They are named one by one instead of
# -march=native, so that the name states exactly which processors can run the result.
INSTRUCTIONS = ("avx512f", "avx2")

# From the test suite of the reference implementation (phc-winner-argon2, src/test.c): argon2id of "password" and
# "somesalt", two passes.
KNOWN_ANSWERS = """
from argon2.low_level import Type, hash_secret_raw

def digest(memory_kib, lanes):
    return hash_secret_raw(b"password", b"somesalt", 2, memory_kib, lanes, 32, Type.ID).hex()

answers = {
    (256, 1): "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe",
    (256, 2): "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037",
    (65536, 1): "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7",
}
raise SystemExit(any(digest(*given) != answer for given, answer in answers.items()))
"""


# What a full disk, a missing program, a hung download or a damaged cache raise.
FAILURES = (OSError, subprocess.SubprocessError, zipfile.BadZipFile)


class BuildImpossibleError(Exception):
    """The reason why the wheel stays, which completes "the portable build of Argon2 stays: …"."""


def main() -> None:
    """Run the command; a failed build is not an error, because the wheel stays."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    if options.plan:
        print("argon2", plan())
    elif options.into:
        fill(options.into)
    else:
        try:
            install()
        except BuildImpossibleError as reason:
            sys.exit(f"gatehouse: the published build of Argon2 could not be restored: {reason}")


def plan() -> str:
    """Return the instructions to build for, or why there is nothing to build.

    If the right build is installed, its instructions are returned for every account: one without a compiler or a home
    may run what another one has prepared.
    """
    try:
        return usable_instructions() if installed() == usable_instructions() else instructions_to_use()
    except BuildImpossibleError as reason:
        return str(reason)


def install() -> None:
    """Replace the wheel in this environment with the fastest build that passes the known-answer check."""
    try:
        instructions = instructions_to_use()
        wheel = wheel_for(instructions)
        pip("install", "--no-deps", "--no-index", "--force-reinstall", str(wheel))
    except (BuildImpossibleError, *FAILURES) as reason:
        say(f"the portable build of Argon2 stays: {reason}")
        restore_wheel()
    else:
        marker().write_text(f"{instructions}\n")
        say(f"Argon2 is built for this processor ({instructions})")


def fill(folder: Path) -> None:
    """Unpack every build that this machine can make and check into a folder named after its instructions."""
    for instructions in INSTRUCTIONS:
        try:
            if instructions not in processor_flags():
                raise BuildImpossibleError("this processor cannot run it, so it cannot be checked here")
            require_tools()
            with zipfile.ZipFile(wheel_for(instructions)) as wheel:
                wheel.extractall(folder / instructions)
            (folder / instructions / MODULE / marker().name).write_text(f"{instructions}\n")
        except (BuildImpossibleError, *FAILURES) as reason:
            say(f"no build of Argon2 for {instructions}: {reason}")
        else:
            say(f"Argon2 is built for {instructions}")


def usable_instructions() -> str:
    """Return the best instruction set that this processor has."""
    if os.environ.get("ARGON2_BUILD") == "off":
        raise BuildImpossibleError("ARGON2_BUILD is off")
    for name in INSTRUCTIONS:
        if name in processor_flags():
            return name
    raise BuildImpossibleError("this processor has none of the instructions that would make it faster")


def instructions_to_use() -> str:
    """Return the best instruction set that this processor has and this machine can compile for."""
    instructions = usable_instructions()
    # A cached build needs no compiler.
    if not kept(instructions):
        require_tools()
    return instructions


def processor_flags() -> set[str]:
    """Return the processor features that the kernel lists; an empty set if there is no list."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        return set()
    return set(flags[1].split()) if flags else set()


def require_tools() -> None:
    if not any(shutil.which(name) for name in (os.environ.get("CC") or "cc", "gcc", "clang")):
        raise BuildImpossibleError(
            "no C compiler; with one (apt-get install gcc libc6-dev) sign-in is 2 to 3 times as fast"
        )
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise BuildImpossibleError(
            "no Python headers; with them (apt-get install python3-dev) sign-in is 2 to 3 times as fast"
        )


def wheel_for(instructions: str) -> Path:
    """Return the wheel from the cache, built if necessary; it has just passed the known-answer check."""
    for wheel in kept(instructions):
        if passes_known_answers(wheel):
            return wheel
    say(f"building Argon2 for this processor ({instructions}), once")
    with tempfile.TemporaryDirectory(prefix="gatehouse-argon2-") as scratch:
        wheel = build(instructions, Path(scratch))
        if not passes_known_answers(wheel):
            raise BuildImpossibleError("the build fails the known-answer check")
        return keep(wheel, instructions)


def cache_folders(instructions: str) -> list[Path]:
    """Return where builds for one version, Python, platform and instruction set are kept.

    That is the user's cache, so that a fresh clone needs no compiler, or this environment where that cannot be written.
    """
    version = locked_requirement().split()[0].partition("==")[2]
    libc = "".join(platform.libc_ver())
    key = f"{version}-{sys.implementation.cache_tag}-{sysconfig.get_platform()}-{libc}-{instructions}"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - never raises without a home
    return [Path(home, "gatehouse", "argon2", key), Path(sys.prefix, "cache", "argon2", key)]


def kept(instructions: str) -> list[Path]:
    """Return the cached wheels."""
    return [wheel for folder in cache_folders(instructions) for wheel in folder.glob("*.whl")]


def keep(wheel: Path, instructions: str) -> Path:
    """Move a wheel into the first writable cache in one step, because another process may be reading there."""
    for folder in cache_folders(instructions):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                return Path(shutil.copy(wheel, scratch)).replace(folder / wheel.name)
        except OSError:
            continue
    raise BuildImpossibleError("there is no folder to keep it in")


def build(instructions: str, scratch: Path) -> Path:
    """Compile the locked version from its source, whose hash pip checks, with tools from their own lock file."""
    tools = scratch / "tools"
    venv.create(tools, with_pip=True)
    only_this = scratch / "requirements.txt"
    only_this.write_text(locked_requirement())
    python = str(tools / "bin" / "python")
    pip("install", "--require-hashes", "-r", str(ROOT / "ops" / "requirements-build.lock"), python=python)
    environment = os.environ | {
        "CFLAGS": f"-O3 -m{instructions}",
        # Choose the vectorised source (opt.c) whatever the build would guess.
        "ARGON2_CFFI_USE_SSE2": "1",
        # CMake and Ninja are in the folder of the tools.
        "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    # Without pip's own cache, which could return a wheel that was built with other flags.
    arguments = ["--no-deps", "--no-cache-dir", "--no-build-isolation", "--no-binary", PACKAGE, "--require-hashes"]
    pip("wheel", *arguments, "-w", str(scratch), "-r", str(only_this), python=python, environment=environment)
    return next(scratch.glob("*.whl"))


def passes_known_answers(wheel: Path) -> bool:
    """Return whether the build gives the known answers; it runs in its own process, which a wrong instruction kills."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-argon2-") as unpacked:
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(unpacked)
        except zipfile.BadZipFile:
            return False
        command = [sys.executable, "-c", KNOWN_ANSWERS]
        environment = os.environ | {"PYTHONPATH": unpacked}
        done = subprocess.run(command, env=environment, check=False, timeout=COMMAND_SECONDS_MAX, capture_output=True)
        return done.returncode == 0


def restore_wheel() -> None:
    """Restore the published wheel if an earlier build is installed that no longer fits."""
    if not installed():
        return
    with tempfile.TemporaryDirectory(prefix="gatehouse-argon2-") as scratch:
        only_this = Path(scratch, "requirements.txt")
        only_this.write_text(locked_requirement())
        pip(
            "install",
            "--no-deps",
            "--force-reinstall",
            "--only-binary",
            PACKAGE,
            "--require-hashes",
            "-r",
            str(only_this),
        )
    marker().unlink()


def marker() -> Path:
    """Return the file beside the library that names what it was built for; `gatehouse doctor` reads it."""
    return Path(sysconfig.get_path("platlib"), MODULE, "built-for")


def installed() -> str:
    """Return the instructions that the installed library was built for; an empty text for the published wheel."""
    return marker().read_text().strip() if marker().exists() else ""


def locked_requirement() -> str:
    """Return the entry of the package in the lock file: version and hashes."""
    lock = (ROOT / "ops" / "requirements.lock").read_text()
    paragraph = re.search(rf"^{PACKAGE}==.*?(?=^[^\s])", lock, re.MULTILINE | re.DOTALL)
    if paragraph is None:
        raise BuildImpossibleError(f"{PACKAGE} is not in ops/requirements.lock")
    return paragraph[0]


def pip(*arguments: str, python: str = sys.executable, environment: dict[str, str] | None = None) -> None:
    command = [python, "-m", "pip", *arguments, "-qq"]
    try:
        done = subprocess.run(
            command, env=environment, check=False, timeout=COMMAND_SECONDS_MAX, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired as slow:
        raise BuildImpossibleError(f"pip {arguments[0]} took longer than {COMMAND_SECONDS_MAX} s") from slow
    if done.returncode:
        last_line = (done.stderr.strip() or done.stdout.strip() or "it printed nothing").splitlines()[-1]
        raise BuildImpossibleError(f"pip {arguments[0]} failed: {last_line}")


def say(text: str) -> None:
    print(f"gatehouse: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
