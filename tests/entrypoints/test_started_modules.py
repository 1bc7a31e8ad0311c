"""What a start imports: the list is short, because each module costs a start time, and each process memory.

A test that fails here names what has come in. If only some commands, pages, settings or gateways need it, import it
where it is used first, as `entrypoints/equipment.py` does. If a library imports it for nothing, put it into
`entrypoints/unused_modules.py`. If every server needs it, add it to `LIBRARIES`, or raise the limit of its layer.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from entrypoints.unused_modules import STOOD_IN, left_out
from tests.postgres import Databases
from tests.processes import Services, given_database

LIBRARIES = {
    "_argon2_cffi_bindings",
    "_cffi_backend",
    "_openssl",
    "anyio",
    "argon2",
    "attr",
    "attrs",
    "bcrypt",
    "blinker",
    "certifi",
    "cryptography",
    "flask",
    "greenlet",
    "h11",
    "httpcore",
    "httpx",
    "hypercorn",
    "idna",
    "itsdangerous",
    "jinja2",
    "jwt",
    "markupsafe",
    "msgspec",
    "outcome",
    "prometheus_client",
    "psycopg",
    "psycopg_binary",
    "pyotp",
    "quart",
    "quart_trio",
    "sniffio",
    "sortedcontainers",
    "structlog",
    "trio",
    "typing_extensions",
    "werkzeug",
}
# How many modules each layer imports; raise them together with what a server can do.
OUR_MODULES_MAX = {"core": 485, "ports": 20, "adapters": 330, "actors": 45, "entrypoints": 270}
MODULES_MAX = 1_940
# What the interpreter and its extensions make, and what an environment of tests brings.
NO_LIBRARIES = re.compile(r"__m(ain|p_main)__|_sysconfigdata_.*|_?cython_.*|_distutils_hack|sitecustomize")
# Written when the server ends, by all that it has imported.
SITECUSTOMIZE = """
import atexit, sys
atexit.register(lambda: open({file!r}, "w").write("\\n".join(sys.modules)))
"""


@pytest.fixture(scope="module")
def imported(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[str]]:
    """The modules of a server that has started and answered programs, but has shown no page."""
    folder = tmp_path_factory.mktemp("started")
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE.format(file=str(folder / "modules")))
    with databases.migrated() as url:
        services = Services(folder, given_database(url) | {"PYTHONPATH": str(folder)})
        service = services.ready()
        answers = [service.get(path).status for path in ("/health/ready", "/.well-known/jwks.json", "/api/user")]
        assert answers == [200, 200, 401]
        assert service.stop() == 0
        yield set((folder / "modules").read_text().split())
        services.close()


def test_a_start_imports_only_these_libraries(imported: set[str]) -> None:
    tops = {name.partition(".")[0] for name in imported}
    libraries = {
        name for name in tops - sys.stdlib_module_names - set(OUR_MODULES_MAX) if not NO_LIBRARIES.fullmatch(name)
    }

    assert sorted(libraries - LIBRARIES) == [], "A start imports more; the beginning of this file says what to do."
    assert sorted(LIBRARIES - libraries) == [], "No start imports these any longer. Take them out of the list."


def test_a_start_imports_few_modules_of_our_own(imported: set[str]) -> None:
    counts = Counter(name.partition(".")[0] for name in imported)
    over = {layer: counts[layer] for layer, most in OUR_MODULES_MAX.items() if counts[layer] > most}

    assert over == {}, "A start imports more; the beginning of this file says what to do."
    assert len(imported) <= MODULES_MAX, "The standard library is counted as well."


def test_pages_and_descriptions_wait_for_their_first_request(imported: set[str]) -> None:
    assert sorted(name for name in imported if name.startswith("entrypoints.web.describing")) == []
    # Mails have the languages and the brand of the platform, too.
    assert {name for name in imported if name.startswith("entrypoints.pages.")} == {
        f"entrypoints.pages.frame{name}" for name in ("", ".languages", ".platform_look")
    }


def test_only_types_know_the_port_of_use_cases(imported: set[str]) -> None:
    assert "ports.unit_of_work" not in imported


@pytest.mark.parametrize("name", STOOD_IN)
def test_each_module_that_is_stood_in_for_exists(name: str) -> None:
    assert find_spec(name) is not None, "The library has it no longer: take it out of entrypoints/unused_modules.py."


def test_what_is_left_out_can_be_imported_later() -> None:
    program = """
from entrypoints.unused_modules import HIDDEN, STOOD_IN, left_out
with left_out():
    from quart.app import QuartClient
    assert QuartClient("anything", to="be made of").__class__.__module__ == "quart.testing"
import importlib, sys
assert not sys.modules.keys() & {*HIDDEN, *STOOD_IN}
for name in STOOD_IN:
    assert importlib.import_module(name).__file__
"""

    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_module_that_is_imported_already_stays() -> None:
    before = sys.modules["sys"], sys.modules.get("click")

    with left_out():
        import json as imported_within  # noqa: PLC0415 - the import is what is tested

    assert imported_within is json
    assert (sys.modules["sys"], sys.modules.get("click")) == before
