"""The rule about needles finds what a random token may hold, and leaves what it may not."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.sources.needles import bare_needles, standing
from tests.sources.reading import read


def found(body: str, **others: str) -> list[int]:
    """Return the lines with findings in a test, of which the first has number 1; `others` are further modules."""
    source = f"from tests.pages.texts import html_of, parsed\n{PRELUDE}\n"
    test = f"async def test_it(text: str, rows: list[int]):\n{indent(body, '    ')}\n"
    sources = [(f"tests/pages/{name}.py", other) for name, other in others.items()]
    modules, [findings] = read([("tests/pages/test_it.py", source + test), *sources], bare_needles)
    lines = source.count("\n") + 1
    return [finding.line - lines for finding in standing(findings, modules)]


PRELUDE = """
NAME = "bolt"
NAMES = ("bolt", "Globex")

def shown_of(page) -> str: ...

def rows_of(page) -> list[str]: ...
"""


@pytest.mark.parametrize(
    "body",
    [
        'assert "bolt" not in page.text',
        'assert "bolt" not in (await ann.open(PAGE)).text',
        'assert "bolt" not in page.text.lower().replace("BOLT", "")',
        'assert "bolt" not in str(answer.json)',
        'assert "bolt" not in f"{page.text}"',
        'assert "bolt" not in answer.content.decode()',
        'assert b"bolt" not in answer.content',
        'assert "bolt" not in page.text.partition("<main")[2]',
        'assert "bolt" not in page.text + other.text',
        'assert "bolt" not in answer.headers["Location"]',
        'assert "bolt" not in (answer.headers.get("Location") or "")',
        'assert "bolt" not in text',
        'assert "bolt" not in html',
        'assert "bolt" not in shown_of(page)',
        'assert "bolt" not in finished.stdout',
        'assert not ("bolt" in page.text)',
        'assert page.status == 200 and "bolt" not in page.text',
        'assert page.text.count("bolt") == 0',
        "assert NAME not in page.text",
        'assert not any("bolt" in page.text for page in pages)',
        'assert not any(word in page.text for word in ("bolt", "Globex"))',
        'assert all(word not in page.text for word in ["bolt"])',
        'assert [line for line in lines if "bolt" in line] == []',
        'for word in ("a sentence of words", "bolt"): assert word not in page.text',
        "for word in NAMES: assert word not in page.text",
        'for path, word in (("/a", "bolt"), ("/b", "nut")): assert word not in page.text',
    ],
)
def test_a_short_text_that_is_absent_from_a_text_is_found(body: str) -> None:
    assert found(body) == [1]


@pytest.mark.parametrize(
    "body",
    [
        'assert not shows(page.text, "bolt")',
        'assert "bolt" not in page.headers',
        'assert "bolt" not in answer.json',
        'assert "bolt" not in [row.name for row in rows]',
        'assert "bolt" not in {"a": 1}',
        'assert "bolt" not in rows',
        'assert "bolt" not in rows_of(page)',
        'assert "bolt" in page.text',
        # Each has a character of no token, or is too long to stand in one by chance.
        'assert "a bolt" not in page.text',
        "assert \"name='bolt'\" not in page.text",
        'assert "Manufacturing" not in page.text',
        "assert secret not in page.text",
        # Nothing of it is random.
        'assert "bolt" not in path.read_text()',
        'for line in ("a bolt", "a nut"): assert "bolt" not in line',
        # It decides on a path through the test, and not on the verdict.
        'if "bolt" not in page.text: return',
    ],
)
def test_what_holds_no_token_or_is_in_none_is_left(body: str) -> None:
    assert found(body) == []


def test_what_a_name_stands_for_decides() -> None:
    assert found('page = shown_of(answer)\nassert "bolt" not in page') == [2]
    assert found('page = answer.json\nassert "bolt" not in page') == []
    assert found('page = (await ann.open(PAGE)).text\nassert "bolt" not in page') == [2]
    assert found('shown = {"a": 1}\nassert "bolt" not in shown') == []


def test_a_function_of_another_module_says_whether_it_returns_a_text() -> None:
    texts = "def html_of(page) -> str: ...\n\ndef parsed(page) -> list[str]: ...\n"

    assert found('assert "bolt" not in html_of(page)', texts=texts) == [1]
    assert found('assert "bolt" not in parsed(page)', texts=texts) == []


def test_the_words_of_a_parametrization_are_known() -> None:
    source = """
import pytest

@pytest.mark.parametrize(("path", "word"), [("/a", "bolt"), pytest.param("/b", "nut")])
def test_words(path: str, word: str) -> None:
    assert word not in page.text
    assert "b" not in path
"""

    modules, [findings] = read([("tests/test_words.py", source)], bare_needles)

    assert [finding.line for finding in standing(findings, modules)] == [6]


def test_a_finding_says_where_it_is_and_what_to_do() -> None:
    _, [[finding]] = read([("tests/test_it.py", 'def test_it():\n    assert "bolt" not in page.text\n')], bare_needles)

    assert str(finding).startswith(
        "tests/test_it.py:2: a random token may hold 'bolt': assert `not shows(text, 'bolt')`"
    )
