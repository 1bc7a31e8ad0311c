"""The layer below all others: what the import contracts cannot see, because they count annotations as well."""

from __future__ import annotations

import subprocess
import sys

from tests.documents import ROOT

IMPORT_CORE = """
import importlib, pkgutil, sys, core
for module in pkgutil.walk_packages(core.__path__, "core."):
    importlib.import_module(module.name)
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_the_core_imports_no_layer_above_it_even_where_an_annotation_names_its_port() -> None:
    imported = subprocess.run(
        [sys.executable, "-c", IMPORT_CORE], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout.split()

    assert "core" in imported
    assert {"ports", "adapters", "actors", "entrypoints"} & set(imported) == set()
