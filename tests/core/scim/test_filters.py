"""The filter grammar: what is parsed, what is refused, and that the printer and the parser agree."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.scim.filters import (
    CHARACTERS_MAX,
    DEPTH_MAX,
    TERMS_MAX,
    And,
    AttributePath,
    Comparison,
    Filter,
    Not,
    Operator,
    Or,
    Present,
    TargetPath,
    ValuePath,
    comparisons,
    parse,
    parse_target,
)
from core.scim.refusals import InvalidFilter

A, B, C = (AttributePath(name) for name in "abc")
names = st.from_regex(r"[A-Za-z$][A-Za-z0-9_$-]{0,8}", fullmatch=True)
schemas = st.sampled_from(["urn:ietf:params:scim:schemas:core:2.0:User", "urn:x", None])
paths = st.builds(AttributePath, names, st.none() | names, schemas)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
values = st.one_of(texts, st.integers(-(10**9), 10**9), st.booleans(), st.none(), st.sampled_from([0.5, -12.25, 1e20]))
expressions = st.one_of(st.builds(Comparison, paths, st.sampled_from(Operator), values), st.builds(Present, paths))


def _composed(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    plain = st.builds(AttributePath, names, st.none(), schemas)
    return st.one_of(
        st.builds(And, inner, inner),
        st.builds(Or, inner, inner),
        st.builds(Not, inner),
        st.builds(ValuePath, plain, inner),
    )


filters = st.recursive(expressions, _composed, max_leaves=8)


@given(filters)
def test_what_is_printed_is_parsed_as_the_same_filter(filter_: Filter) -> None:
    text = str(filter_)
    # What is nested more deeply is refused.
    assume(text.count("(") + text.count("[") <= DEPTH_MAX)

    parsed = parse(text)

    assert parsed == filter_
    assert str(parsed) == text


@given(st.text() | st.text(alphabet='abc."[]()\\ eqandornotpr:1-', max_size=60))
def test_any_text_is_a_filter_or_is_refused(text: str) -> None:
    try:
        parsed = parse(text)
    except InvalidFilter:
        return

    assert parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a eq "x"', Comparison(A, Operator.EQ, "x")),
        ('  a   EQ\t"x"  ', Comparison(A, Operator.EQ, "x")),
        ("a pr", Present(A)),
        ("a Pr", Present(A)),
        ("a eq True", Comparison(A, Operator.EQ, True)),
        ("a ne null", Comparison(A, Operator.NE, None)),
        ("a gt -1.5e2", Comparison(A, Operator.GT, -150.0)),
        ('a.b sw "\\u0041\\""', Comparison(AttributePath("a", "b"), Operator.SW, 'A"')),
        ("a pr or b pr and c pr", Or(Present(A), And(Present(B), Present(C)))),
        ("(a pr or b pr) and c pr", And(Or(Present(A), Present(B)), Present(C))),
        ("a pr and b pr and c pr", And(And(Present(A), Present(B)), Present(C))),
        ("not (a pr)", Not(Present(A))),
        ("NOT(a pr) OR b pr", Or(Not(Present(A)), Present(B))),
        ("not pr", Present(AttributePath("not"))),
        ("and pr and or pr", And(Present(AttributePath("and")), Present(AttributePath("or")))),
        ('a[b eq "x" and c pr]', ValuePath(A, And(Comparison(B, Operator.EQ, "x"), Present(C)))),
        (
            'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "x"',
            Comparison(
                AttributePath("userName", schema="urn:ietf:params:scim:schemas:core:2.0:User"), Operator.EQ, "x"
            ),
        ),
        ("members.$ref pr", Present(AttributePath("members", "$ref"))),
    ],
)
def test_a_filter_is_parsed(text: str, expected: Filter) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "a", "a eq", 'a eq "x', 'eq "x"', "a xx 1", "a eq x", 'a eq "x" b', "a pr and", "(a pr", "a pr)"),
        *(
            "a[b pr",
            "a[]",
            "a.b[c pr]",
            "not a pr",
            "not (a pr",
            'a eq "\\x"',
            "a eq 01",
            "a eq 1.",
            "1 pr",
            "a eq --1",
        ),
        *('a eq "\\u0000"', 'a eq "\\ud800"', "a eq 1234567890123456789", "a.b.c pr", "ä pr", "a\u00a0pr", "a eq tru"),
    ],
)
def test_what_is_no_filter_is_refused(text: str) -> None:
    with pytest.raises(InvalidFilter):
        parse(text)


@pytest.mark.parametrize(
    ("longest", "longer"),
    [
        (" or ".join(["a pr"] * TERMS_MAX), " or ".join(["a pr"] * (TERMS_MAX + 1))),
        ("(" * DEPTH_MAX + "a pr" + ")" * DEPTH_MAX, "(" * (DEPTH_MAX + 1) + "a pr" + ")" * (DEPTH_MAX + 1)),
        ("a pr".ljust(CHARACTERS_MAX), "a pr".ljust(CHARACTERS_MAX + 1)),
    ],
    ids=["terms", "depth", "characters"],
)
def test_the_size_of_a_filter_is_limited(longest: str, longer: str) -> None:
    parse(longest)

    with pytest.raises(InvalidFilter):
        parse(longer)


@pytest.mark.parametrize(
    ("text", "expected", "key"),
    [
        ("userName", TargetPath(AttributePath("userName")), "username"),
        ("name.givenName", TargetPath(AttributePath("name", "givenName")), "name.givenname"),
        (
            'emails[type eq "work"].value',
            TargetPath(AttributePath("emails"), Comparison(AttributePath("type"), Operator.EQ, "work"), "value"),
            "emails.value",
        ),
        (
            'members[value eq "1"]',
            TargetPath(AttributePath("members"), Comparison(AttributePath("value"), Operator.EQ, "1")),
            "members",
        ),
    ],
)
def test_the_path_of_an_operation_is_parsed_and_printed(text: str, expected: TargetPath, key: str) -> None:
    target = parse_target(text)

    assert target == expected
    assert (str(target), target.key) == (text, key)


@pytest.mark.parametrize("text", ["", "a b", "a[b pr", "a[b pr].", "a[b pr]c", "a.b[c pr]", "a pr"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidFilter):
        parse_target(text)


def test_a_filter_is_printed_with_the_parentheses_that_it_needs() -> None:
    for text in (
        "a pr",
        'a.b eq "ä"',
        "not (a pr)",
        "a pr and b pr and c pr",
        "a pr and (b pr and c pr)",
        "a pr and (b pr or c pr)",
        "(a pr or b pr) and c pr",
        "a pr or b pr or c pr",
        "a pr or (b pr or c pr)",
        "a pr or b pr and c pr",
        "urn:x:a[b pr or c pr]",
    ):
        assert str(parse(text)) == text


def test_the_comparisons_of_a_filter_are_listed_with_whole_names() -> None:
    found = comparisons(parse('a eq 1 and not (b pr or c eq 2) and members[value eq "3"]'))

    assert [str(comparison) for comparison in found] == ["a eq 1", "c eq 2", 'members.value eq "3"']
