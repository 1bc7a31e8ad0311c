"""Makes what all tests share before the first one runs, so that processes that are forked afterwards have it too.

Compiled templates are kept between runs, in the environment of the tools. What a template compiles to depends on the
language, on the filters and on the files that these read, so the compiled ones stand in a folder whose name is the
digest of the whole product.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

from jinja2 import FileSystemBytecodeCache

from entrypoints.pages.frame.languages import LANGUAGES
from entrypoints.pages.frame.rendering import templates
from tests.application import all_routes
from tests.documents import ROOT

PRODUCT: Final = ("core", "ports", "adapters", "actors", "entrypoints")
KEPT: Final = Path(sys.prefix) / "gatehouse-templates"
# Of the states of the product that were tested last.
KEPT_MAX: Final = 3
DIGEST_CHARACTERS: Final = 32


def warm_up() -> None:
    """Compile the templates of all pages in all languages, and build all routes."""
    all_routes()
    folder = _folder()
    for language in LANGUAGES.values():
        environment = templates(language)
        environment.bytecode_cache = FileSystemBytecodeCache(str(folder), f"{language.tag}-%s")
        for template in environment.list_templates(["html"]):
            environment.get_template(template)


def _folder() -> Path:
    """Return the folder for the present state of the product, and delete the folders of older states."""
    folder = KEPT / _digest()
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    for old in sorted(KEPT.iterdir(), key=lambda one: one.stat().st_mtime)[:-KEPT_MAX]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def _digest() -> str:
    digest = hashlib.sha256(f"{metadata.version('jinja2')} {sys.version}".encode())
    for folder in PRODUCT:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                digest.update(f"{file.relative_to(ROOT)}\0{file.stat().st_size}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGEST_CHARACTERS]
