"""`gatehouse demo` touches no folder and no database but its own."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import pytest

from core.secrets import Secret
from entrypoints.demo import command
from entrypoints.demo.command import LOG, RECORD
from entrypoints.demo.filling import DemoService
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings


def run(folder: Path, settings: Settings | None = None, *, port: int = 8000, shop_port: int = 8001) -> int:
    """Run the demo in a folder."""
    return command.run(settings or Settings(), folder=folder, port=port, shop_port=shop_port, report=lambda _: None)


def test_a_database_that_is_named_is_refused(tmp_path: Path) -> None:
    settings = replace(Settings(), database_url=Secret("postgresql://localhost/production"))

    with pytest.raises(CannotStart, match="Unset GATEHOUSE_DATABASE_URL"):
        run(tmp_path / "demo", settings)

    assert not (tmp_path / "demo").exists()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()

    with pytest.raises(CannotStart, match="is not empty and no finished demo"):
        run(tmp_path)

    assert [one.name for one in tmp_path.iterdir()] == ["postgres"]


def test_a_folder_belongs_to_the_ports_that_it_was_made_for(tmp_path: Path) -> None:
    made_for = {"gatehouse": "http://localhost:8000", "shop": "http://localhost:8001"}
    (tmp_path / RECORD).write_text(json.dumps({"addresses": made_for, "service": {}}))

    with pytest.raises(CannotStart, match="was made for http://localhost:8000 and http://localhost:8001"):
        run(tmp_path, port=8010, shop_port=8011)


def test_a_folder_of_another_version_is_refused(tmp_path: Path) -> None:
    addresses = {"gatehouse": "http://localhost:8000", "shop": "http://localhost:8001"}
    (tmp_path / RECORD).write_text(json.dumps({"addresses": addresses, "service": {"client_id": "x"}}))

    with pytest.raises(CannotStart, match="was made by another version"):
        run(tmp_path)


def test_one_port_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="need two ports"):
        run(tmp_path / "demo", port=8000, shop_port=8000)


def test_a_port_in_use_is_named_and_nothing_is_left_running(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        addresses = {"gatehouse": "http://localhost:8000", "shop": f"http://localhost:{port}"}
        service = dict.fromkeys((one.name for one in fields(DemoService)), "x")
        (tmp_path / RECORD).write_text(json.dumps({"addresses": addresses, "service": service}))

        with pytest.raises(CannotStart, match=r"Address already in use.* set --shop-port to another"):
            run(tmp_path, shop_port=port)

    assert not (tmp_path / LOG).exists()
