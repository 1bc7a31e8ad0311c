"""The contrasts of a branding's colours: the required ones, and the colours that pages compute to stay readable."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from core.colors import (
    CONTRAST_MIN,
    DARK_SURFACE,
    GROUND,
    TEXT_CONTRAST_MIN,
    WHITE,
    contrast,
    readable_on,
    text_color_on,
)
from core.lazy_dataclasses import dataclass
from core.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredContrast:
    """The contrast between the primary colour and `what`, which must be at least `ratio_min` to be saved."""

    what: str
    ratio: float
    ratio_min: float

    @property
    def is_enough(self) -> bool:
        """Whether the colours can be saved."""
        return self.ratio >= self.ratio_min


class ColorUse(Enum):
    """What pages show in a colour that they compute."""

    TEXT_ON_BUTTONS = auto()
    TEXT_ON_BACKGROUND = auto()
    LIGHT_LINKS = auto()
    # Buttons and links in a dark scheme.
    DARK_ACCENT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedColor:
    """A colour that pages compute, and its contrast to its background; for links, whether it is the chosen one."""

    use: ColorUse
    color: str
    ratio: float
    is_as_chosen: bool = False


def required_contrasts(primary: str | None, background: str | None) -> Sequence[RequiredContrast]:
    """Return the contrasts that a branding needs; none without a primary colour."""
    if primary is None:
        return ()
    # Links are text on white cards, and buttons stand out from the ground of a page.
    return (
        RequiredContrast(what=Wording("white"), ratio=contrast(primary, WHITE), ratio_min=TEXT_CONTRAST_MIN),
        RequiredContrast(
            what=Wording("the background colour"), ratio=contrast(primary, background or GROUND), ratio_min=CONTRAST_MIN
        ),
    )


def computed_colors(primary: str | None, background: str | None) -> Sequence[ComputedColor]:
    """Return the colours that pages compute from a branding's; all are readable."""
    found: list[ComputedColor] = []
    if primary is not None:
        found += [
            _text_on(ColorUse.TEXT_ON_BUTTONS, primary),
            _readable(ColorUse.LIGHT_LINKS, primary, GROUND),
            _readable(ColorUse.DARK_ACCENT, primary, DARK_SURFACE),
        ]
    if background is not None:
        found.append(_text_on(ColorUse.TEXT_ON_BACKGROUND, background))
    return found


def _text_on(use: ColorUse, ground: str) -> ComputedColor:
    color = text_color_on(ground)
    return ComputedColor(use=use, color=color, ratio=contrast(color, ground))


def _readable(use: ColorUse, chosen: str, ground: str) -> ComputedColor:
    color = readable_on(chosen, ground)
    return ComputedColor(use=use, color=color, ratio=contrast(color, ground), is_as_chosen=color == chosen)
