"""How pictures are sent, and what they are named."""

from __future__ import annotations

import pytest

from core.errors import BadRequest
from core.organizations.settings.pictures import (
    PICTURE_BYTES_MAX,
    Picture,
    PictureType,
    parse_data_url,
    parse_file,
)
from tests.pictures import data_url, drawn_png


@pytest.mark.parametrize("media_type", PictureType)
def test_a_data_url_has_a_type_and_a_content(media_type: PictureType) -> None:
    assert parse_data_url(data_url(b"content", media_type), "logo") == Picture(type=media_type, content=b"content")


@pytest.mark.parametrize(
    "url",
    [
        *("", "data:", "image/png;base64,AAAA", "data:image/png,AAAA", "data:image/gif;base64,AAAA"),
        *("data:image/png;charset=utf-8;base64,AAAA", "data:image/png;base64,A", "data:image/png;base64,A A=", "ä,"),
        data_url(bytes(PICTURE_BYTES_MAX + 1)),
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_data_url(url, "logo")

    assert [problem.field for problem in refused.value.details] == ["logo"]


def test_a_picture_of_the_maximum_size_is_taken() -> None:
    assert len(parse_data_url(data_url(bytes(PICTURE_BYTES_MAX)), "logo").content) == PICTURE_BYTES_MAX


def test_the_name_tells_pictures_apart_and_has_their_type() -> None:
    names = [
        Picture(type=PictureType.PNG, content=b"a").name,
        Picture(type=PictureType.PNG, content=b"b").name,
        Picture(type=PictureType.SVG, content=b"a").name,
    ]

    assert len(set(names)) == 3
    assert [name.rpartition(".")[2] for name in names] == ["png", "png", "svg"]


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(drawn_png(4, 3), PictureType.PNG), (b"<svg/>", PictureType.SVG), (b"GIF89a", PictureType.SVG)],
)
def test_the_type_of_a_file_is_told_by_its_content(content: bytes, media_type: PictureType) -> None:
    picture = parse_file(content, "icon")

    assert picture == Picture(type=media_type, content=content)
    assert parse_data_url(picture.data_url, "icon") == picture


def test_a_file_above_the_maximum_size_is_refused() -> None:
    with pytest.raises(BadRequest) as refused:
        parse_file(bytes(PICTURE_BYTES_MAX + 1), "icon")

    assert [problem.field for problem in refused.value.details] == ["icon"]
