"""The environment of the tests: without the settings of a developer, with a browser, and with sets in one order."""

from __future__ import annotations

import os
import shutil
from typing import Final

CHROMIUM: Final = "GATEHOUSE_CHROMIUM"
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_KEPT: Final = (CHROMIUM, "GATEHOUSE_TEST_", "GATEHOUSE_REPORT_")


def prepare_environment() -> str:
    """Prepare the environment of the tests; return a note where there is no browser, else an empty text."""
    for name in list(os.environ):
        if name.startswith("GATEHOUSE_") and not name.startswith(_KEPT):
            del os.environ[name]
    # Without compiled files, a hundred processes would each compile all modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONHASHSEED"] = "0"
    for candidate in (os.environ.get(CHROMIUM, ""), *_NAMES):
        if candidate and (found := shutil.which(candidate)):
            os.environ[CHROMIUM] = found
            return ""
    os.environ.pop(CHROMIUM, None)
    return f"no Chromium found, so tests marked 'browser' are left out; apt-get install chromium, or set {CHROMIUM}"
