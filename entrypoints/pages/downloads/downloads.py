"""What the installation gives away: the wheel of its Python package, which is on no package index under our name.

The wheel of `gatehouse-client` is put together from its files: the same bytes everywhere. The files are links to
`ops/clients/python`; a wheel of Gatehouse has the files themselves (ops/decisions/0112).
"""

from __future__ import annotations

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import trio
from quart import Response

from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import AnswerStatus, Media
from entrypoints.web.serving.answering.documents import THREADS, Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

_SOURCE: Final = Path(__file__).parent / "source"
_PACKAGE: Final = "gatehouse_client"
_FILE_MODE: Final = 0o100644
_WHEEL: Final = "Wheel-Version: 1.0\nGenerator: gatehouse\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
routes = Routes("downloads", "The Python package for products, as the file that pip installs.", refusal_page)
DOWNLOADS: Final = "/downloads"
_ZIP: Final = "application/zip"
WheelFile: TypeAlias = Annotated[Response, Media(_ZIP)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel, by its file name, with the SHA-256 of its bytes in hexadecimal."""

    name: str
    content: bytes = field(repr=False)
    sha256: str


@cache
def client_wheel() -> Wheel:
    """Return the wheel."""
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    version = f"{_PACKAGE}-{project['version']}"
    information = {
        "METADATA": "\n".join(_metadata(project)) + f"\n\n{_text('README.md')}",
        "WHEEL": _WHEEL,
        "entry_points.txt": "\n".join(_entry_points(project)) + "\n",
        "licenses/LICENSE": _text("LICENSE"),
    }
    files = _modules() | {f"{version}.dist-info/{name}": text.encode() for name, text in information.items()}
    record = f"{version}.dist-info/RECORD"
    files[record] = ("\n".join(map(_recorded, files.items())) + f"\n{record},,\n").encode()
    content = _zipped(files)
    return Wheel(name=f"{version}-py3-none-any.whl", content=content, sha256=hashlib.sha256(content).hexdigest())


def _text(name: str) -> str:
    return (_SOURCE / name).read_text("utf-8")


def _modules() -> dict[str, bytes]:
    """Return the files of the package by their paths, without what running it leaves beside them."""
    files = sorted((_SOURCE / _PACKAGE).rglob("*"), key=Path.as_posix)
    kept = (file for file in files if file.suffix == ".py" or file.name == "py.typed")
    return {file.relative_to(_SOURCE).as_posix(): file.read_bytes() for file in kept}


def _metadata(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of the core metadata, for the keys that this `pyproject.toml` has."""
    yield "Metadata-Version: 2.4"
    yield f"Name: {project['name']}"
    yield f"Version: {project['version']}"
    yield f"Summary: {project['description']}"
    yield f"Author: {', '.join(author['name'] for author in project['authors'])}"
    yield f"License-Expression: {project['license']}"
    yield "License-File: LICENSE"
    yield from (f"Classifier: {classifier}" for classifier in project["classifiers"])
    yield f"Requires-Python: {project['requires-python']}"
    yield from (f"Requires-Dist: {needed}" for needed in project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        yield f"Provides-Extra: {extra}"
        yield from (f"Requires-Dist: {needed}; extra == '{extra}'" for needed in needs)
    yield "Description-Content-Type: text/markdown"


def _entry_points(project: Mapping[str, Any]) -> Iterator[str]:
    for group, names in project["entry-points"].items():
        yield f"[{group}]"
        yield from (f"{name} = {target}" for name, target in names.items())


def _recorded(file: tuple[str, bytes]) -> str:
    """Return the line of a file in RECORD."""
    name, content = file
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(content)}"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of the files, all of one time; not compressed, because versions of zlib differ."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = _FILE_MODE << 16
            wheel.writestr(entry, content)
    return archive.getvalue()


@routes.get(f"{DOWNLOADS}/:name", refuses=(NotFound,))
@public
async def download(call: Call, name: str) -> WheelFile | Annotated[None, AnswerStatus(304)]:
    """Return the wheel of the Python package `gatehouse-client` of this version."""
    if name != (await wheel()).name:
        raise NotFound
    document = await generated_once(call, _write_wheel)
    return document.response(call)


async def wheel() -> Wheel:
    """Return the wheel; a thread makes it for the first request."""
    return await trio.to_thread.run_sync(client_wheel, limiter=THREADS)


def address_of(wheel: Wheel, base_url: str) -> str:
    """Return the address by which pip installs the wheel from here; pip refuses a file with another hash."""
    return f"{base_url}{DOWNLOADS}/{wheel.name}#sha256={wheel.sha256}"


def _write_wheel(_routes: tuple[Route, ...], _installation: Installation) -> Document:
    return Document.of(client_wheel().content, media_type=_ZIP)
