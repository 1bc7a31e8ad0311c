"""The languages in which pages are offered, by their tags (BCP 47): English, and those with a file of translations."""

from pathlib import Path
from typing import Final

TRANSLATIONS: Final = Path(__file__).parents[1] / "pages" / "translations"
SOURCE: Final = "en"
TAGS: Final = (SOURCE, *sorted(file.stem for file in TRANSLATIONS.glob("*.po")))
