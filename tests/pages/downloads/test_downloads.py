"""The wheel of the Python package is served: the same bytes everywhere, whole, and as pip asks for it."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import tomllib
import zipfile
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Final

import pytest

from entrypoints.pages.downloads import downloads as making
from entrypoints.pages.downloads.downloads import client_wheel
from tests.application import Client
from tests.documents import MANUAL, ROOT

PACKAGE: Final = ROOT / "ops" / "clients" / "python"
PROJECT: Final = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
NAME: Final = f"gatehouse_client-{PROJECT['version']}-py3-none-any.whl"


async def test_the_wheel_is_served_by_its_name_to_everyone_and_may_be_kept(client: Client) -> None:
    first = await client.get(f"/downloads/{NAME}")
    head = await client.request("HEAD", f"/downloads/{NAME}")
    kept = await client.get(f"/downloads/{NAME}", headers={"If-None-Match": first.headers["ETag"]})
    compressed = await client.get(f"/downloads/{NAME}", headers={"Accept-Encoding": "gzip"})

    assert hashlib.sha256(first.content).hexdigest() == client_wheel().sha256
    assert first.headers["Content-Type"] == "application/zip"
    assert first.headers["X-Content-Type-Options"] == "nosniff"
    assert first.headers["Cache-Control"] == "no-cache"
    assert (head.status, head.headers["ETag"]) == (200, first.headers["ETag"])
    assert head.headers["Content-Length"] == str(len(first.content))
    assert (kept.status, kept.content) == (304, b"")
    assert gzip.decompress(compressed.content) == first.content


@pytest.mark.parametrize(
    "name",
    [
        "gatehouse_client-0.0.0-py3-none-any.whl",
        NAME.replace("_", "-", 1),
        NAME.upper(),
        f"{NAME}.asc",
        f"{NAME}/",
        "pyproject.toml",
        "..%2Fclient_wheel.py",
    ],
)
async def test_another_name_is_no_file(client: Client, name: str) -> None:
    answer = await client.get(f"/downloads/{name}")

    assert answer.status == 404


async def test_a_browser_is_told_on_a_page_that_there_is_no_such_file(client: Client) -> None:
    answer = await client.get("/downloads/nothing.whl", headers={"Accept": "text/html"})

    assert (answer.status, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_the_wheel_has_every_file_of_the_package_and_a_line_for_each() -> None:
    with zipfile.ZipFile(io.BytesIO(client_wheel().content)) as wheel:
        assert wheel.testzip() is None
        files = {name: wheel.read(name) for name in wheel.namelist()}
    source = PACKAGE / "src"
    package = {
        file.relative_to(source).as_posix(): file.read_bytes()
        for file in source.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    folder = f"gatehouse_client-{PROJECT['version']}.dist-info"
    record = files.pop(f"{folder}/RECORD").decode()
    lines = {name: (digest, size) for name, digest, size in csv.reader(record.splitlines())}

    assert {name: content for name, content in files.items() if not name.startswith(folder)} == package
    assert lines.pop(f"{folder}/RECORD") == ("", "")
    assert lines == {
        name: (
            f"sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip('=')}",
            str(len(content)),
        )
        for name, content in files.items()
    }
    assert files[f"{folder}/licenses/LICENSE"] == (PACKAGE / "LICENSE").read_bytes()
    assert files[f"{folder}/entry_points.txt"] == b"[pytest11]\ngatehouse = gatehouse_client.pytest_plugin\n"
    fields, _, readme = files[f"{folder}/METADATA"].partition(b"\n\n")
    metadata = BytesParser(policy=HTTP).parsebytes(fields)
    assert metadata.get_all("Provides-Extra") == list(PROJECT["optional-dependencies"])
    assert "flask>=3; extra == 'flask'" in metadata.get_all("Requires-Dist", [])
    assert readme == (PACKAGE / "README.md").read_bytes()


def test_every_key_of_the_project_is_in_the_metadata_or_elsewhere_in_the_wheel() -> None:
    # A new one needs a line in `downloads.py`.
    assert set(PROJECT) == {
        *("name", "version", "description", "readme", "requires-python", "license", "license-files", "authors"),
        *("classifiers", "dependencies", "optional-dependencies", "entry-points"),
    }


def test_the_bytes_depend_on_nothing_but_the_contents_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "source"
    # As a wheel of Gatehouse has them: files, compiled, of another time, and made under another umask.
    shutil.copytree(making._SOURCE, copy)
    for file in sorted(copy.rglob("*"), reverse=True):
        if file.is_file():
            file.chmod(0o600)
            os.utime(file, (0, 0))
    cache = copy / "gatehouse_client" / "__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "tokens.cpython-311.pyc").write_bytes(b"compiled")
    monkeypatch.setattr(making, "_SOURCE", copy)

    assert client_wheel.__wrapped__() == client_wheel()


def test_the_manual_installs_the_wheel_of_this_version_and_nothing_of_ours_by_its_name() -> None:
    documents = {page: page.read_text() for page in (*MANUAL.rglob("*.md"), PACKAGE / "README.md")}

    for page, text in documents.items():
        for name in re.findall(r"/downloads/(gatehouse_client-[\w.-]+)", text):
            assert name == NAME, page
        for command in re.findall(r"pip install ([^\n`]*)", text):
            for word in shlex.split(command, comments=True):
                assert re.fullmatch(r"gatehouse([_-]client)?(\[\w+\])?([=<>~].*)?", word) is None, page
    assert sum("/downloads/gatehouse_client-" in text for text in documents.values()) > 4
