"""The brand of the platform: its name, logo and colour, as the operator has set them.

Pages and mails show it, beside the brand of an organization where that is their context
(`core/organizations/settings/branding.py`).
"""

from __future__ import annotations

from typing import Final

from core.colors import CONTRAST_MIN, GROUND, TEXT_CONTRAST_MIN, WHITE, checked_color, contrast
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.settings.pictures import Picture
from core.text import checked_name

NAME_DEFAULT: Final = "Gatehouse"
# The name is shown in the subjects of mails, in QR codes and on small screens.
NAME_CHARACTERS_MAX: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderBrand:
    """How people see a provider that the operator has added: its title, and the picture on its button."""

    name: str
    title: str
    icon: Picture | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformBrand:
    """What people see of the platform; without a colour and a logo, it has the look of the product."""

    name: str = NAME_DEFAULT
    color: str | None = None
    logo: Picture | None = None
    providers: tuple[ProviderBrand, ...] = ()


def checked_platform_name(text: str) -> str:
    """Return the name of a platform; raise `BadRequest` when it is invalid."""
    name = checked_name(text, characters_min=1)
    # Mail programs and authenticator apps give these characters a meaning of their own.
    if len(name) > NAME_CHARACTERS_MAX or any(character in name for character in '<>":'):
        raise BadRequest.of_field("name", f'A name has at most {NAME_CHARACTERS_MAX} characters, none of them <>":')
    return name


def checked_platform_color(text: str) -> str:
    """Return a colour that is readable on pages, as for organizations; raise `BadRequest` for any other text."""
    color = checked_color(text, "color")
    if contrast(color, WHITE) < TEXT_CONTRAST_MIN or contrast(color, GROUND) < CONTRAST_MIN:
        raise BadRequest.of_field("color", "The colour is not readable on white.")
    return color
