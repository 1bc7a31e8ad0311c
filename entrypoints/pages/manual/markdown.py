"""The Markdown of the manual as HTML: the part of it that our pages use, with the same result as on GitHub.

It is strict: unknown syntax raises `MarkdownError`, and a test reads every page, so that no reader meets it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from markupsafe import Markup, escape

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.highlighting import highlighted

_FENCE: Final = re.compile(r"```(?P<language>[a-z]*)$")
_HEADING: Final = re.compile(r"(?P<marks>#{1,4}) (?P<text>.+)$")
_ITEM: Final = re.compile(r"(?P<marker>- |(?P<number>\d+)\. )(?P<text>.*)$")
_COMMENT: Final = re.compile(r"<!--.*-->$")
_DIVIDER: Final = re.compile(r"\|(?:\s*:?-+:?\s*\|)+$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
# Code in a link or in emphasis may have the signs that end them.
_INLINE: Final = re.compile(
    r"(?P<ticks>`+)(?!`)(?P<literal>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!\[(?P<alternative>[^\]]*)\]\((?P<picture>[^)\s]+)\)"
    r"|\[(?P<text>(?:`[^`]*`|[^`\]])+?)\]\((?P<target>[^)\s]+)\)"
    r"|<(?P<address>https?://[^>\s]+)>"
    r"|<(?P<mail>[^@>\s]+@[^>\s]+)>"
    r"|(?P<break><br>)"
    r"|\*\*(?P<strong>(?:`[^`]*`|[^`*]|\*(?!\*))+?)\*\*"
    r"|(?<![\w*])\*(?=\S)(?P<emphasis>(?:`[^`]*`|[^`*])+?)(?<=\S)\*(?![\w*])",
    re.DOTALL,
)
_LINK: Final = re.compile(r"(?P<text>\[(?:`[^`]*`|[^`\]])*\])\((?!https?:)(?P<target>[^)\s]+)\)")
_FENCED: Final = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_ELEMENT: Final = re.compile(r"<[a-zA-Z/!]")
_NO_ANCHOR: Final = re.compile(r"[^\w\- ]")
_HIGHLIGHTED: Final = {
    "python": "python",
    "js": "javascript",
    "javascript": "javascript",
    "jsx": "javascript",
    "sh": "shell",
    "shell": "shell",
    "console": "shell",
}
_LABELS: Final = {"python": "A program", "javascript": "A program", "shell": "Commands"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a link leads: to an address, or to a file of the repository that is not served."""

    address: str = ""
    file: str = ""


# Returns where a link of a page leads, unless it is a whole address.
Resolve: TypeAlias = Callable[[str], Target]


class MarkdownError(Exception):
    """A page has Markdown that is not ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading, with the anchor that links to it have."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What stands below a heading, as Markdown."""

    heading: Heading
    lines: Sequence[str]


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as GitHub derives it."""
    return _NO_ANCHOR.sub("", heading.lower()).replace(" ", "-")


def sections_of(text: str) -> Sequence[Section]:
    """Return a page in sections, from one heading to the next; raise `MarkdownError` unless it begins with one."""
    found: list[tuple[Heading, list[str]]] = []
    anchors: set[str] = set()
    is_code = False
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith("```")
        heading = None if is_code else _HEADING.match(line)
        if heading is not None:
            anchor = _unused(anchor_of(heading["text"]), anchors)
            found.append((Heading(level=len(heading["marks"]), text=heading["text"], anchor=anchor), []))
        elif found:
            found[-1][1].append(line)
        elif line:
            raise MarkdownError(f"a page begins with a heading: {line}")
    return [Section(heading=heading, lines=lines) for heading, lines in found]


def html_of(sections: Sequence[Section], resolve: Resolve) -> Markup:
    """Return sections as HTML; what a link leads to that is not served is named beside its text."""
    return Markup("\n").join(
        part for section in sections for part in (_heading(section.heading, resolve), *_blocks(section.lines, resolve))
    )


def first_paragraph(section: Section, resolve: Resolve) -> Markup:
    """Return the first paragraph or list of a section, as HTML; it is empty where there is none."""
    return next(
        (block for block in _blocks(section.lines, resolve) if block.startswith(("<p>", "<ul>", "<ol>"))), Markup()
    )


def inline(text: str, resolve: Resolve) -> Markup:
    """Return the text of a paragraph as HTML."""
    parts: list[Markup] = []
    end = 0
    for found in _INLINE.finditer(text):
        parts += [_plain(text[end : found.start()]), _element(found, resolve)]
        end = found.end()
    return Markup().join([*parts, _plain(text[end:])])


def plain_text(text: str) -> str:
    """Return Markdown without its signs, for a search and for a summary."""
    return inline(text, lambda _: Target(address="#")).striptags()


def with_links(text: str, resolve: Resolve) -> str:
    """Return Markdown whose links lead where the page is served; what is not served is named beside the text."""

    def resolved(found: re.Match[str]) -> str:
        target = resolve(found["target"])
        if target.address:
            return f"{found['text']}({target.address})"
        text = found["text"][1:-1]
        return text if text.strip("`") == target.file else f"{text} ({target.file})"

    return "".join(
        part if part.lstrip().startswith("```") else _LINK.sub(resolved, part) for part in _FENCED.split(text)
    )


def _unused(anchor: str, used: set[str]) -> str:
    """Return an anchor that no heading before has."""
    number, found = 0, anchor
    while found in used:
        number += 1
        found = f"{anchor}-{number}"
    used.add(found)
    return found


def _heading(heading: Heading, resolve: Resolve) -> Markup:
    text = inline(heading.text, resolve)
    if heading.level == 1:
        return Markup("<h1>{}</h1>").format(text)
    link = Markup(' <a class="anchor" href="#{}" aria-label="Link to this section">#</a>').format(heading.anchor)
    return Markup('<h{0} id="{1}">{2}{3}</h{0}>').format(heading.level, heading.anchor, text, link)


def _blocks(lines: Sequence[str], resolve: Resolve) -> Iterator[Markup]:
    """Yield the paragraphs, lists, tables and programs of lines."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line or _COMMENT.match(line):
            at += 1
        elif fence := _FENCE.match(line):
            end = lines.index("```", at + 1)
            yield _program("\n".join(lines[at + 1 : end]), fence["language"])
            at = end + 1
        elif _ITEM.match(line):
            end = _end_of_list(lines, at)
            yield _list(lines[at:end], resolve)
            at = end
        elif line.startswith("|"):
            end = _end_of(lines, at, lambda one: one.startswith("|"))
            yield _table(lines[at:end], resolve)
            at = end
        elif line.startswith((" ", ">", "#", "---", "+ ", "* ")):
            raise MarkdownError(f"this is no Markdown of ours: {line}")
        else:
            end = _end_of(lines, at, _is_of_paragraph)
            yield Markup("<p>{}</p>").format(inline("\n".join(lines[at:end]), resolve))
            at = end


def _end_of(lines: Sequence[str], begin: int, belongs: Callable[[str], bool]) -> int:
    return next((at for at in range(begin, len(lines)) if not belongs(lines[at])), len(lines))


def _is_of_paragraph(line: str) -> bool:
    return bool(line) and not line.startswith(("|", "```", " ", "<!--")) and _ITEM.match(line) is None


def _end_of_list(lines: Sequence[str], begin: int) -> int:
    """Return where a list ends: before the first line that is neither an item of its kind, nor indented, nor empty."""
    is_numbered = lines[begin][0].isdigit()
    end = begin
    for at in range(begin, len(lines)):
        item = _ITEM.match(lines[at])
        if lines[at].startswith(" ") or (item is not None and (item["number"] is not None) is is_numbered):
            end = at + 1
        elif lines[at]:
            break
    return end


def _list(lines: Sequence[str], resolve: Resolve) -> Markup:
    """Return a list; an item of one paragraph has no element for it."""
    items: list[list[str]] = []
    width = 0
    for line in lines:
        item = _ITEM.match(line)
        if item is not None:
            width = len(item["marker"])
            items.append([item["text"]])
        elif line and not line.startswith(" " * width):
            raise MarkdownError(f"this line belongs to no item: {line}")
        else:
            items[-1].append(line[width:])
    name = "ol" if lines[0][0].isdigit() else "ul"
    first = lines[0].partition(".")[0]
    start = Markup(' start="{}"').format(first) if name == "ol" and first != "1" else ""
    written = Markup("\n").join(Markup("<li>{}</li>").format(_item(item, resolve)) for item in items)
    return Markup("<{0}{1}>\n{2}\n</{0}>").format(name, start, written)


def _item(lines: Sequence[str], resolve: Resolve) -> Markup:
    blocks = list(_blocks(lines, resolve))
    paragraphs = sum(block.startswith("<p>") for block in blocks)
    if paragraphs == 1 and blocks[0].startswith("<p>"):
        blocks[0] = Markup(blocks[0].removeprefix("<p>").removesuffix("</p>"))  # noqa: S704 - it was HTML before
    return Markup("\n").join(blocks)


def _table(lines: Sequence[str], resolve: Resolve) -> Markup:
    if len(lines) < 2 or _DIVIDER.match(lines[1]) is None:
        raise MarkdownError(f"a table has a line below its head: {lines[0]}")
    head, *rows = ([inline(cell, resolve) for cell in _cells(line)] for line in (lines[0], *lines[2:]))
    if any(len(row) != len(head) for row in rows):
        raise MarkdownError(f"a row has more or fewer cells than the head: {lines[0]}")
    heading, nothing = Markup('<th scope="col">{}</th>'), Markup("<td></td>")
    columns = Markup().join(heading.format(cell) if cell else nothing for cell in head)
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell) for cell in row)) for row in rows
    )
    return Markup(
        '<div class="table" tabindex="0" role="group" aria-label="{}"><table>\n<thead><tr>{}</tr></thead>\n'
        "<tbody>\n{}\n</tbody>\n</table></div>"
    ).format(" · ".join(filter(None, (cell.striptags() for cell in head))) or "Table", columns, body)


def _cells(line: str) -> Sequence[str]:
    """Return the cells of a row; a `|` in one stands behind a backslash, also in code."""
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.strip())[1:-1]]


def _program(text: str, language: str) -> Markup:
    known = _HIGHLIGHTED.get(language)
    label = "Text" if known is None else (_LABELS.get(known) or "")
    content = escape(text) if known is None else highlighted(text, known)
    return Markup('<pre class="code" tabindex="0" role="group" aria-label="{}"><code>{}</code></pre>').format(
        label, content
    )


def _element(found: re.Match[str], resolve: Resolve) -> Markup:
    match found.lastgroup:
        case "literal":
            return Markup("<code>{}</code>").format(_literal(found["literal"]))
        case "picture":
            address = resolve(found["picture"]).address
            if not address:
                raise MarkdownError(f"a picture is not served: {found['picture']}")
            return Markup('<img src="{}" alt="{}" loading="lazy">').format(address, found["alternative"])
        case "target":
            return _link(inline(found["text"], resolve), found["target"], resolve)
        case "address":
            return Markup('<a href="{0}">{0}</a>').format(found["address"])
        case "mail":
            return Markup('<a href="mailto:{0}">{0}</a>').format(found["mail"])
        case "break":
            return Markup("<br>")
        case "strong":
            return Markup("<strong>{}</strong>").format(inline(found["strong"], resolve))
        case _:
            return Markup("<em>{}</em>").format(inline(found["emphasis"], resolve))


def _link(text: Markup, target: str, resolve: Resolve) -> Markup:
    if target.startswith(("http://", "https://")):
        return Markup('<a href="{}">{}</a>').format(target, text)
    found = resolve(target)
    if found.address:
        return Markup('<a href="{}">{}</a>').format(found.address, text)
    if text.striptags() == found.file:
        return text
    return Markup("{} (<code>{}</code>)").format(text, found.file)


def _literal(text: str) -> Markup:
    """Return code, whose lines are one; it may wrap after an underscore. A space beside a backtick is of the signs."""
    joined = text.replace("\n", " ")
    code = joined[1:-1] if joined.startswith(" ") and joined.endswith(" ") and joined.strip() else joined
    return Markup("_<wbr>").join(code.split("_"))


def _plain(text: str) -> Markup:
    if "`" in text or "**" in text or _ELEMENT.search(text):
        raise MarkdownError(f"a sign has no other end, or is HTML: {text}")
    return escape(text)
