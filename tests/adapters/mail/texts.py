"""The texts of mails that the catalogue has to translate, as their templates and the renderer name them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, nodes

from adapters.gateways import mail_renderer
from adapters.gateways.mail_renderer import FILTERS, TEMPLATES_FOLDER
from core.credentials.user_agents import UNKNOWN
from core.mail.mail import NEUTRAL_NAMES
from core.organizations.departures import MadeCredentialKind
from core.organizations.organizations import BUILT_IN_ROLES
from core.organizations.takeover_mails import KINDS as TAKEOVER_KINDS

FUNCTIONS = {"_", "gettext", "ngettext"}


def template_names() -> list[str]:
    """Return the names of all templates of mails, those that mails share included."""
    return sorted(path.name for path in TEMPLATES_FOLDER.iterdir() if path.suffix in {".html", ".txt"})


@cache
def tree(name: str) -> nodes.Template:
    """Return the syntax tree of a template, with the calls that its texts are translated by."""
    environment = Environment(  # noqa: S701 - nothing is rendered with it
        loader=FileSystemLoader(TEMPLATES_FOLDER), extensions=["jinja2.ext.i18n"]
    )
    environment.policies["ext.i18n.trimmed"] = True
    extended: Any = environment
    extended.install_null_translations(newstyle=True)
    extended.filters |= dict.fromkeys((*FILTERS, "wrapped", "aligned"), str)
    return environment.parse(Path(TEMPLATES_FOLDER / name).read_text("utf-8"))


def texts_of_mails() -> set[str]:
    """Return every text of mails; a plural follows its singular after a zero character."""
    of_data = {
        *mail_renderer.REASONS,
        *MadeCredentialKind,
        *TAKEOVER_KINDS,
        *NEUTRAL_NAMES.values(),
        *BUILT_IN_ROLES,
        UNKNOWN,
    }
    return {*_texts_of_templates(), *_texts_of_the_renderer(), *of_data}


def _texts_of_templates() -> Iterator[str]:
    for name in template_names():
        for call in tree(name).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in FUNCTIONS:
                strings = [part.value for part in call.args if isinstance(part, nodes.Const)]
                assert strings, f"{name}:{call.lineno}: a text must be written where it is used"
                yield "\0".join(strings)


def _texts_of_the_renderer() -> Iterator[str]:
    for call in ast.walk(ast.parse(Path(mail_renderer.__file__).read_text("utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in FUNCTIONS:
            strings = [str(part.value) for part in call.args if isinstance(part, ast.Constant)]
            if strings:
                yield "\0".join(strings)
