"""Which lists and results a field to choose from shows."""

from __future__ import annotations

from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices
from entrypoints.pages.console.pickers import chosen_person, picker


def listed(*names: str, is_whole: bool = True) -> Choices:
    """Return choices of these names, which are their values."""
    return Choices(found=[Choice(value=name, name=name) for name in names], is_whole=is_whole)


def test_a_field_of_which_the_reader_sees_nothing_is_typed() -> None:
    assert picker("service", ("", None)) is None


def test_lists_that_are_whole_are_shown_whatever_is_searched_for() -> None:
    one = picker("subject", ("Roles", listed("admin")), ("People", listed("ann")), ("Groups", None), searched="none")

    assert one is not None
    assert one.is_whole
    assert [title for title, _ in one.lists] == ["Roles", "People"]


def test_a_whole_list_beside_one_that_is_searched_shows_what_fits_and_what_is_chosen() -> None:
    roles = listed("member", *(f"role-{number}" for number in range(CHOICES_FOUND_MAX + 1)))

    found = picker("subject", ("", roles), ("", listed(is_whole=False)), searched=" ROLE-1 ", chosen="member")
    every = picker("subject", ("", roles), ("", listed(is_whole=False)))

    assert found is not None
    assert every is not None
    assert [one.name for one in found.lists[0][1]] == ["member", "role-1", "role-10"]
    assert (len(every.lists[0][1]), every.has_more) == (CHOICES_FOUND_MAX, True)


def test_a_chosen_value_that_is_in_no_list_stays_where_the_field_keeps_it() -> None:
    kept = picker("service", ("", listed("shop")), chosen="desk", keeps=True)
    dropped = picker("service", ("", listed("shop")), chosen="desk")

    assert kept is not None
    assert dropped is not None
    assert [one.value for _, found in kept.lists for one in found] == ["shop", "desk"]
    assert [one.value for _, found in dropped.lists for one in found] == ["shop"]


def test_a_person_is_the_chosen_one_that_fits_the_search_or_a_whole_address() -> None:
    for chosen, searched, person in (
        ("ann@example.com", "", "ann@example.com"),
        ("ann@example.com", "ANN", "ann@example.com"),
        ("ann@example.com", "bob", ""),
        ("ann@example.com", "bob@example.com", "bob@example.com"),
        ("", "ann", ""),
        ("", "ann@example", ""),
        ("", " ann@example.com ", "ann@example.com"),
        ("", "", ""),
    ):
        assert chosen_person(chosen, searched) == person, (chosen, searched)
