"""The page of the manual on the test kit names all that the kit has, as its code does."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable
from typing import Any, Final

from gatehouse_client.testing import Delivery, Directory, GatehouseKit, IdentityProvider, Mail, WebhookReceiver
from gatehouse_client.testing.clock import Clock
from gatehouse_client.testing.mailbox import Mailbox
from tests.documents import MANUAL

PAGE: Final = MANUAL / "guides" / "testing.md"
BEGIN: Final = (
    "<!-- kit: begin; written by tests/test_testing_page.py, which fails when this table and the code differ -->"
)
END: Final = "<!-- kit: end -->"
# Each part of the kit by what an example calls it.
PARTS: Final[dict[str, type[Any]]] = {
    "gatehouse": GatehouseKit,
    "gatehouse.clock": Clock,
    "gatehouse.mails": Mailbox,
    "mail": Mail,
    "directory": Directory,
    "okta": IdentityProvider,
    "webhook": WebhookReceiver,
    "delivery": Delivery,
}
# What the fixture does, and what a provider is made of.
WITHIN: Final = {"close", "start", "answer", "claims", "attributes", "new_id"}


def table() -> str:
    lines = ["| Call | What it does |", "|---|---|"]
    lines += [line for called, part in PARTS.items() for line in lines_of(called, part)]
    return "\n".join(lines)


def lines_of(called: str, part: type[Any]) -> Iterable[str]:
    members = {name: one for base in reversed(part.__mro__[:-1]) for name, one in vars(base).items()}
    for name, member in members.items():
        if name in WITHIN or (name.startswith("_") and name != "__call__"):
            continue
        if inspect.isfunction(inspect.unwrap(member)) or isinstance(member, property):
            path = called if name == "__call__" else f"{called}.{name}"
            call = path if isinstance(member, property) else f"{path}{signature(member)}"
            [about, *_] = (inspect.getdoc(member) or "").splitlines()
            yield f"| `{call}` | {about} |"


def signature(function: Any) -> str:
    """Return what a call of a method takes, without types."""
    _, *parameters = inspect.signature(function).parameters.values()
    texts: list[str] = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not any("*" in text for text in texts):
            texts.append("*")
        prefix = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = f"={shown(one.default)}" if one.default is not one.empty else ""
        texts.append(f"{prefix}{one.name}{default}")
    return f"({', '.join(texts)})"


def shown(default: object) -> str:
    if isinstance(default, str):
        return json.dumps(default)
    if isinstance(default, tuple):
        return f"({', '.join(map(json.dumps, default))},)" if default else "()"
    return default.__name__ if isinstance(default, type) else repr(default)


def test_the_table_of_the_page_has_all_methods_of_the_kit() -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)
    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
    else:
        assert written.strip() == table(), (
            "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_testing_page.py"
        )
