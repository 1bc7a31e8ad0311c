"""The logo of the platform, which is read from a file at the start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.organizations.settings.pictures import PICTURE_BYTES_MAX, PictureType
from entrypoints import equipment
from entrypoints.equipment import require_settings
from entrypoints.refusals import CannotStart
from entrypoints.settings import load
from tests.pictures import drawn_png
from tests.shown_text import shows

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><path d="M0 0h8v8z"/></svg>'
TAKES = "GATEHOUSE_LOGO takes the path of a PNG or SVG file of at most 256 KiB. "


def test_a_png_and_an_svg_are_taken_by_their_content_and_rebuilt(tmp_path: Path) -> None:
    file = tmp_path / "logo"

    file.write_bytes(drawn_png(40, 30))
    drawn = equipment.platform_brand_of(load({"GATEHOUSE_LOGO": str(file), "GATEHOUSE_NAME": "Acme ID"}))
    file.write_bytes(SVG)
    vector = equipment.platform_brand_of(load({"GATEHOUSE_LOGO": str(file), "GATEHOUSE_COLOR": "#C00000"}))

    assert (drawn.name, drawn.logo is not None and drawn.logo.type) == ("Acme ID", PictureType.PNG)
    assert vector.logo is not None
    assert (vector.color, vector.logo.type) == ("#c00000", PictureType.SVG)
    assert not shows(vector.logo.content.decode(), "script")
    assert b"<path" in vector.logo.content


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"", "is empty."),
        (b"\x89PNG\r\n\x1a\n" + bytes(PICTURE_BYTES_MAX), "is too large."),
        (b"GIF89a", "cannot be used: "),
        (b"\x89PNG\r\n\x1a\nrest", "cannot be used: "),
    ],
    ids=["missing", "empty", "too large", "another type", "broken"],
)
def test_a_wrong_logo_stops_the_start_with_a_line_that_says_what_the_setting_takes(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "logo.png"
    if content is not None:
        file.write_bytes(content)
    settings = load({"GATEHOUSE_LOGO": str(file), "GATEHOUSE_DATA_DIR": str(tmp_path)})

    with pytest.raises(CannotStart) as refused:
        require_settings(settings)

    assert str(refused.value).startswith(f"{TAKES}{file} {problem}")
    assert "\n" not in str(refused.value)


def test_a_folder_is_no_logo(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be read: Is a directory"):
        equipment.platform_brand_of(load({"GATEHOUSE_LOGO": str(tmp_path)}))


def test_a_named_pipe_is_no_logo_and_stops_the_start_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "logo.svg"
    os.mkfifo(pipe)

    with pytest.raises(CannotStart, match="is a named pipe"):
        equipment.platform_brand_of(load({"GATEHOUSE_LOGO": str(pipe)}))
