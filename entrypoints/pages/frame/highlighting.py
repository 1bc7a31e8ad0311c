"""Colours for programs on pages: Python, JavaScript and shell, as elements with classes (ops/decisions/0072).

It distinguishes the kinds of words well enough for reading, and checks nothing. The text itself is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from markupsafe import Markup, escape

_STRING: Final = r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
_NUMBER: Final = r"(?P<number>\b\d[\d_.]*\b)"
# A word before a parenthesis is called.
_WORDS: Final = r"(?P<keyword>\b(?:{keywords})\b)|(?P<call>\b[A-Za-z_]\w*(?=\())|\w+"
_PYTHON_KEYWORDS: Final = (
    "and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|from|if|import|in|is|"
    "lambda|None|nonlocal|not|or|pass|raise|return|self|True|try|while|with|yield"
)
_JAVASCRIPT_KEYWORDS: Final = (
    "async|await|break|case|catch|class|const|continue|default|delete|do|else|export|false|finally|for|from|function|"
    "if|import|in|instanceof|let|new|null|of|return|switch|this|throw|true|try|typeof|undefined|var|while|yield"
)
_SHELL_KEYWORDS: Final = "case|do|done|elif|else|esac|exit|export|fi|for|if|in|read|set|then|while"
_LANGUAGES: Final = {
    "python": re.compile(
        rf'(?P<comment>#[^\n]*)|(?P<string>(?:\b[bfru]{{1,2}})?(?:"""(?:\\.|[^\\])*?"""|{_STRING}))'
        rf"|(?P<decorator>(?m:^)[ ]*@[\w.]+)|{_NUMBER}|{_WORDS.format(keywords=_PYTHON_KEYWORDS)}",
        re.DOTALL,
    ),
    "javascript": re.compile(
        # A slash begins a regular expression where a value is expected, and divides elsewhere.
        rf"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>{_STRING}|`(?:\\.|[^`\\])*`"
        rf"|(?<=[(,=:] )/(?:\\.|[^/\\\n])+/[a-z]*|(?<=[(,=:])/(?![/*])(?:\\.|[^/\\\n])+/[a-z]*)"
        rf"|{_NUMBER}|{_WORDS.format(keywords=_JAVASCRIPT_KEYWORDS)}",
        re.DOTALL,
    ),
    "shell": re.compile(
        rf"(?P<comment>(?<!\S)#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\])*\"|'[^']*')|(?P<decorator>(?<=\s)--?[a-zA-Z][\w-]*)"
        rf"|(?P<call>\$\w+|\$\{{\w+\}}|(?m:^)[ ]*[\w-]+(?==)|\bcurl\b)|(?P<keyword>\b(?:{_SHELL_KEYWORDS})\b)"
        rf"|{_NUMBER}|[\w./:-]+",
        re.DOTALL,
    ),
}


# The classes of the kinds of words, as the style sheet knows them.
_CLASSES: Final = {"comment": "cc", "string": "cs", "keyword": "ck", "call": "cf", "number": "cn", "decorator": "cd"}


def highlighted(text: str, language: str) -> Markup:
    """Return a program as HTML with an element around each word that has a kind: a class such as `cs` for a string."""
    return Markup("".join(_parts(text, _LANGUAGES[language])))  # noqa: S704 - every part is escaped


def _parts(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    # Every page of a service has some hundred words, and `Markup.format` takes ten times as long.
    end = 0
    for found in pattern.finditer(text):
        if found.lastgroup is None:
            continue
        yield str(escape(text[end : found.start()]))
        # A page has several programs, and is short by the shortest element.
        yield f"<i class={_CLASSES[found.lastgroup]}>{escape(found[0])}</i>"
        end = found.end()
    yield str(escape(text[end:]))
