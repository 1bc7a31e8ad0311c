"""The commonest passwords, which are looked for in a file on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.password_lists.files import FILE, CommonPasswords, FileNotSorted, SortedFile

KNOWN = [line for line in FILE.read_text("ascii").splitlines() if not line.startswith("#")]


def file_of(folder: Path, content: bytes) -> SortedFile:
    path = folder / "lines.txt"
    path.write_bytes(content)
    return SortedFile(path)


def test_there_are_thirty_thousand_of_them_and_each_is_found() -> None:
    is_common = CommonPasswords()

    assert len(KNOWN) == 30_000
    assert [password for password in KNOWN if not is_common(password)] == []


@pytest.mark.parametrize(
    "password",
    ["correct horse", "", " ", "!", "~~~~", "zzzzzzzzzzzzz", "passwor\u0501", "#", "# they are", "password:", "a\nb"],
)
def test_another_password_is_not(password: str) -> None:
    assert not CommonPasswords()(password)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("count", range(6))
def test_every_line_of_a_file_is_found_whatever_its_size_and_its_line_ends(
    tmp_path: Path, count: int, ending: str
) -> None:
    lines = [f"{number * 7:03}A:{number}" for number in range(count)]
    for is_ended in (True, False):
        content = ending.join(lines) + (ending if is_ended else "")
        file = file_of(tmp_path, content.encode())

        found = [file.find(line.partition(":")[0].lower().encode()) for line in lines]

        assert [(line or b"").decode().strip() for line in found] == lines
        assert [file.find(key) for key in (b"001", b"005b", b"zzz")] == [None] * 3
        file.require_sorted()


@pytest.mark.parametrize("content", [b"b\na\n", b"c\nb\na\n"])
def test_a_file_that_is_not_sorted_is_named(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileNotSorted, match="not sorted"):
        file_of(tmp_path, content).require_sorted()


@pytest.mark.parametrize("content", [b"x" * 5000, b"a\n" * 3 + b"x" * 300 + b"\n" + b"y\n" * 3])
def test_a_file_with_long_lines_is_refused(tmp_path: Path, content: bytes) -> None:
    file = file_of(tmp_path, content)

    with pytest.raises(FileNotSorted, match="more than 100 characters"):
        file.require_sorted()
    with pytest.raises(FileNotSorted, match="more than 100 characters"):
        file.find(b"x")
