"""The Markdown of the manual becomes HTML as GitHub writes it, and what is not ours is refused."""

from __future__ import annotations

import pytest

from entrypoints.pages.manual.markdown import MarkdownError, Target, html_of, plain_text, sections_of, with_links


def resolve(link: str) -> Target:
    return Target(file="ops/x.conf") if link == "../x.conf" else Target(address=f"/docs/manual/{link}")


def html(text: str) -> str:
    """Return what stands below a heading."""
    return str(html_of(sections_of(f"# Title\n\n{text}"), resolve)).removeprefix("<h1>Title</h1>").lstrip("\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("One\nline.", "<p>One\nline.</p>"),
        ("`a\nb` and `` `c` ``", "<p><code>a b</code> and <code>`c`</code></p>"),
        ("**bold `x*y`** and *slanted*, 2 * 3 * 4", None),
        ("`A_B`", "<p><code>A_<wbr>B</code></p>"),
        ("[a](b.md#c)", '<p><a href="/docs/manual/b.md#c">a</a></p>'),
        ("[x.conf](../x.conf)", "<p>x.conf (<code>ops/x.conf</code>)</p>"),
        ("[`ops/x.conf`](../x.conf)", "<p><code>ops/x.conf</code></p>"),
        ("<https://a.example/?b&c>", '<p><a href="https://a.example/?b&amp;c">https://a.example/?b&amp;c</a></p>'),
        ("<a@b.example>", '<p><a href="mailto:a@b.example">a@b.example</a></p>'),
        ("a < b & c", "<p>a &lt; b &amp; c</p>"),
        ("- a\n- b\n  - c", "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul></li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("1. a\n\n   b", "<ol>\n<li><p>a</p>\n<p>b</p></li>\n</ol>"),
        ("<!-- nobody reads this -->", ""),
    ],
)
def test_what_our_pages_use(text: str, written: str | None) -> None:
    if written is None:
        written = "<p><strong>bold <code>x*y</code></strong> and <em>slanted</em>, 2 * 3 * 4</p>"

    assert html(text) == written


def test_a_table_has_a_head_and_an_empty_cell_there_is_no_heading() -> None:
    written = html("| A | |\n|---|---|\n| `a \\| b` | c<br>d |")

    assert '<tr><th scope="col">A</th><td></td></tr>' in written
    assert "<tr><td><code>a | b</code></td><td>c<br>d</td></tr>" in written


def test_a_program_has_colours_and_stays_as_it_is() -> None:
    written = html("1. a\n\n   ```python\n   x = '<b>'  # *not* slanted\n   ```")

    assert "&lt;b&gt;" in written
    assert "# *not* slanted" in written
    assert 'aria-label="A program"' in written


def test_headings_have_the_anchors_of_github_each_once() -> None:
    sections = sections_of("# A\n## What it's for: `x`\n## B\n```\n## no heading\n```\n## B")

    assert [one.heading.anchor for one in sections] == ["a", "what-its-for-x", "b", "b-1"]
    assert '<h2 id="b-1">B <a class="anchor" href="#b-1"' in html_of(sections, resolve)


@pytest.mark.parametrize(
    "text",
    [
        "> quoted",
        "<b>bold</b>",
        "a `b",
        "**a",
        "* a",
        "    code",
        "| a | b |",
        "| a | b |\n|---|---|\n| c |",
        "10. a\n   b",
        "![a](../x.conf)",
    ],
)
def test_what_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(MarkdownError):
        html(text)


def test_a_page_begins_with_a_heading() -> None:
    with pytest.raises(MarkdownError):
        sections_of("No heading.")


def test_the_source_has_links_that_lead_where_it_is_served_and_programs_as_they_are() -> None:
    text = "[a](b.md), [x](../x.conf), [c](https://c.example)\n\n```\n[a](b.md)\n```\n"

    assert (
        with_links(text, resolve)
        == "[a](/docs/manual/b.md), x (ops/x.conf), [c](https://c.example)\n\n```\n[a](b.md)\n```\n"
    )


def test_a_summary_has_no_signs() -> None:
    assert plain_text("For `x` and [y](z.md): **all** of it.") == "For x and y: all of it."
