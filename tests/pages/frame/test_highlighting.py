"""The colours of programs on pages: the text stays as it is, and its words have their kinds."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from entrypoints.pages.frame.highlighting import highlighted
from entrypoints.pages.services import snippets

PROGRAMS = Path(snippets.__file__).parent / "programs"
KINDS = {"cc": "comment", "cs": "string", "ck": "keyword", "cf": "call", "cn": "number", "cd": "decorator"}
LANGUAGES = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".sh": "shell"}


def kinds(text: str, language: str) -> list[tuple[str, str]]:
    """Return the words that have a kind, each after it."""
    found = re.findall(r"<i class=(\w+)>(.*?)</i>", highlighted(text, language), re.DOTALL)
    return [(KINDS[name], unescape(word)) for name, word in found]


def test_every_program_stays_the_same_text_and_its_strings_end_where_they_do() -> None:
    for file in PROGRAMS.iterdir():
        text, language = file.read_text(), LANGUAGES[Path(file.stem).suffix]
        html = str(highlighted(text, language))

        assert unescape(re.sub(r"</?i\b[^>]*>", "", html)) == text, file.name
        words = [word for kind, word in kinds(text, language) if kind == "string"]
        assert words, file.name
        assert all("\n" not in word or word.startswith(("`", '"', "'")) for word in words), file.name


def test_markup_in_a_program_is_escaped_wherever_it_stands() -> None:
    for language in LANGUAGES.values():
        html = str(highlighted('<b> "<a>" # <u>\n// <s>', language))

        assert re.findall(r"<(?!/?i\b)", html) == []


def test_the_words_of_each_language_are_told_apart() -> None:
    assert kinds('@app.get("/")\nasync def home(x=1):  # "why"\n    return f"{x}" or classes', "python") == [
        ("decorator", "@app.get"),
        ("string", '"/"'),
        ("keyword", "async"),
        ("keyword", "def"),
        ("call", "home"),
        ("number", "1"),
        ("comment", '# "why"'),
        ("keyword", "return"),
        ("string", 'f"{x}"'),
        ("keyword", "or"),
    ]
    assert kinds("const a = b / 2 / c.replace(/'\\//g, `it's ${d}`) // done", "javascript") == [
        ("keyword", "const"),
        ("number", "2"),
        ("call", "replace"),
        ("string", "/'\\//g"),
        ("string", "`it's ${d}`"),
        ("comment", "// done"),
    ]
    assert kinds("curl -X POST \"$url#a\" --data 'b' # c", "shell") == [
        ("call", "curl"),
        ("decorator", "-X"),
        ("string", '"$url#a"'),
        ("decorator", "--data"),
        ("string", "'b'"),
        ("comment", "# c"),
    ]
