"""The dependencies: what the code imports is declared, and has a reason (0001)."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

from ops.testing.imports import names_imported_by, python_files
from tests.documents import ROOT

# Its modules hold programs of others as texts, for people who copy them.
RECIPES = "entrypoints/pages/console/recipes"
LAYERS = ("core", "ports", "adapters", "actors", "entrypoints")
DECISION = ROOT / "ops" / "decisions" / "0001-dependencies.md"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def names(requirements: list[str]) -> set[str]:
    """Return the names of required packages, without extras and versions."""
    return {re.split(r"[^a-z0-9-]", requirement, maxsplit=1)[0] for requirement in requirements}


def files_of(*folders: str) -> set[str]:
    """Return the paths of the Python files in these folders."""
    return {file for file in python_files() if file.startswith(tuple(f"{folder}/" for folder in folders))}


def imported(files: set[str]) -> set[str]:
    """Return the packages of others whose modules these files import."""
    modules = {name.partition(".")[0] for file in files for name in names_imported_by(file)}
    packages = packages_distributions()
    return {
        packages[module][0].lower().replace("_", "-")
        for module in modules & set(packages) - set(sys.stdlib_module_names)
        if "gatehouse" not in packages[module]
    }


def test_the_service_declares_every_package_that_it_imports() -> None:
    declared = names([*project()["dependencies"], *project()["optional-dependencies"]["traces"]])
    recipes = files_of(RECIPES)
    found = imported(files_of(*LAYERS) - recipes)

    assert {"httpcore", "werkzeug", "quart"} <= found
    assert found - declared == set()
    assert imported(recipes) - declared == {"django"}


def test_the_tests_declare_every_package_that_they_import() -> None:
    declared = names([*project()["dependencies"], *project()["optional-dependencies"]["test"]])

    assert imported(files_of("tests", "ops")) - declared == set()


def test_every_declared_package_has_a_reason_and_every_reason_a_package() -> None:
    declared = names([*project()["dependencies"], *project()["optional-dependencies"]["test"]])
    text = DECISION.read_text()
    rows = re.findall(r"^\| ([a-z0-9, -]+) \|", text, re.MULTILINE)
    prescribed = re.findall(r"[\w-]+", text.partition("Prescribed from the start:")[2].partition("\n\n")[0].lower())

    reasons = {name for row in rows for name in row.split(", ")}

    assert reasons <= declared
    assert declared <= reasons | set(prescribed)


def test_the_lock_of_traces_adds_to_that_of_the_service_and_changes_nothing_of_it() -> None:
    versions = {
        lock: set(re.findall(r"^([a-z][\w.-]*==[^ ]+)", (ROOT / "ops" / lock).read_text(), re.MULTILINE))
        for lock in ("requirements.lock", "requirements-traces.lock")
    }

    added = versions["requirements-traces.lock"] - versions["requirements.lock"]

    assert versions["requirements.lock"] <= versions["requirements-traces.lock"]
    assert {version.partition("==")[0] for version in added} == {"opentelemetry-proto", "protobuf"}
