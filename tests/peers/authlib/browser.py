"""A browser without a screen: it keeps cookies, follows redirects, signs in and presses the first button of a page."""

import importlib
import re
from html import unescape
from typing import Any
from urllib.parse import urljoin

# Installed for the peer's own Python only.
requests: Any = importlib.import_module("requests")

STEPS_MAX = 15


class Browser:
    """The browser of a person, at an issuer."""

    def __init__(self, issuer: str, email: str, password: str) -> None:
        self._issuer = issuer
        self._known = {"email": email, "password": password}
        self._session = requests.Session()

    def open(self, address: str) -> str:
        """Open an address and answer what it asks; return the address of another site to which it leads, or a page."""
        answer = self._session.get(address, allow_redirects=False)
        for _ in range(STEPS_MAX):
            if "Location" in answer.headers:
                target = urljoin(answer.url, answer.headers["Location"])
                if not target.startswith(self._issuer):
                    return target
                answer = self._session.get(target, allow_redirects=False)
                continue
            if "Refresh" in answer.headers:
                return answer.headers["Refresh"].partition("; url=")[2]
            form = re.search(r'<form method="post" action="([^"]*)">(.*?)</form>', answer.text, re.DOTALL)
            if form is None:
                return answer.text
            fields = {}
            for element in re.findall(r"<input[^>]*>", form[2]):
                name, value = re.search(r'name="([^"]*)"', element), re.search(r'value="([^"]*)"', element)
                if name and "checkbox" not in element:
                    fields[name[1]] = self._known.get(name[1], unescape(value[1]) if value else "")
            answer = self._session.post(urljoin(answer.url, form[1]), data=fields, allow_redirects=False)
        raise AssertionError("the browser goes in circles")
