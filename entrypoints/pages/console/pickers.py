"""What the field of a form shows to choose from; `picker` of `console/components.html` is its markup.

Of few it is a list. Of many it is a search, which the page answers by GET with all that the form holds, and its results
as radio buttons. A form with one has its token on its own button, so that no address has it:
`ui.button(_("Save"), name="form_token", value=form_token)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.lazy_dataclasses import dataclass
from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Picker:
    """A field to choose for: its lists, each with its title or none, what is chosen, and what was searched for."""

    name: str
    lists: Sequence[tuple[str, Sequence[Choice]]]
    chosen: str
    searched: str
    is_whole: bool
    has_more: bool


def picker(
    name: str, *lists: tuple[str, Choices | None], chosen: str = "", searched: str = "", keeps: bool = False
) -> Picker | None:
    """Return a field to choose from these lists; None where the reader may see none of them.

    With `keeps`, a chosen value that is in no list stays; without, it is dropped.
    """
    seen = [(title, one) for title, one in lists if one is not None]
    if not seen:
        return None
    is_whole = all(one.is_whole for _, one in seen)
    shown = [(title, one if is_whole else _narrowed(one, searched, chosen)) for title, one in seen]
    if keeps and chosen and all(choice.value != chosen for _, one in shown for choice in one.found):
        shown.append(("", Choices(found=[Choice(value=chosen, name=chosen)], is_whole=True)))
    return Picker(
        name=name,
        lists=[(title, one.found) for title, one in shown if one.found],
        chosen=chosen,
        searched=searched,
        is_whole=is_whole,
        has_more=any(one.has_more for _, one in shown),
    )


def chosen_person(chosen: str, searched: str) -> str:
    """Return the address that is asked about: the chosen one that fits what is searched for, else a whole one typed."""
    chosen, searched = chosen.strip(), searched.strip()
    if chosen and searched.lower() in chosen.lower():
        return chosen
    return searched if "." in searched.partition("@")[2] else ""


def _narrowed(listed: Choices, searched: str, chosen: str) -> Choices:
    """Return of a whole list beside one that is searched what the search finds there, and what is chosen."""
    if not listed.is_whole:
        return listed
    part = searched.strip().lower()
    fitting = [one for one in listed.found if part in one.name.lower() or part in one.about.lower()]
    kept = [one for one in listed.found if one.value == chosen and one not in fitting[:CHOICES_FOUND_MAX]]
    has_more = len(fitting) > CHOICES_FOUND_MAX
    return Choices(found=[*kept, *fitting[:CHOICES_FOUND_MAX]], is_whole=True, has_more=has_more)
