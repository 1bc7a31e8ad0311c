"""The choices that a form offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.organizations.choices import CHOICES_FOUND_MAX, CHOICES_MAX, Choice, choices


def reading(count: int, *, without: int = -1) -> Callable[[str, int], Sequence[Choice | None]]:
    """Return a reader of so many, by a part of their names, of which one cannot be chosen."""
    every = [None if number == without else Choice(value=str(number), name=f"n{number}") for number in range(count)]

    def read(part: str, limit: int) -> Sequence[Choice | None]:
        return [one for one in every if one is None or part in one.name][:limit]

    return read


def test_of_few_all_can_be_chosen_whatever_is_searched_for() -> None:
    found = choices(reading(CHOICES_MAX), "nothing")

    assert found.is_whole
    assert len(found.found) == CHOICES_MAX


def test_of_many_none_is_shown_without_a_search() -> None:
    found = choices(reading(CHOICES_MAX + 1), "  ")

    assert (found.is_whole, found.found, found.has_more) == (False, [], False)


def test_of_many_a_search_shows_the_first_and_says_whether_there_are_more() -> None:
    some = choices(reading(CHOICES_MAX + 1), " n4 ")
    many = choices(reading(CHOICES_MAX + 1), "n")

    assert [one.name for one in some.found] == ["n4", *(f"n4{digit}" for digit in range(CHOICES_FOUND_MAX - 1))]
    assert some.has_more
    assert (len(many.found), many.has_more) == (CHOICES_FOUND_MAX, True)


def test_what_cannot_be_chosen_is_left_out_and_counts_among_what_there_is() -> None:
    few = choices(reading(3, without=1), "")
    many = choices(reading(CHOICES_MAX + 1, without=1), "n50")

    assert [one.value for one in few.found] == ["0", "2"]
    assert not many.is_whole
    assert [one.value for one in many.found] == ["50"]
