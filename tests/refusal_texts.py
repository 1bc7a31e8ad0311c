"""The texts that refusals show to people: the sentences of the core, and of what reads and answers requests.

A refusal raised anywhere may end on a page, so every sentence of these folders counts, except where only programs read
it. `texts()` returns those for the catalogue, and `composed_texts()` finds sentences that no page could translate.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = (
    "core",
    "entrypoints/web/input",
    "entrypoints/web/serving",
    "entrypoints/shared",
    "entrypoints/pages",
    "adapters/gateways",
    "adapters/saml",
)
# What is left out, with the reason for which no page shows it.
FOR_PROGRAMS: Final[Mapping[str, str]] = {
    "entrypoints/pages/manual": "the manual is in English, and only tests meet what it raises",
    "adapters/gateways/breached_ranges.py": "the log names it, and operators read it in a terminal",
    "adapters/gateways/mail_renderer.py": "the log names it",
    "adapters/gateways/smtp.py": "pages recognize it by the sentences of `entrypoints/pages/mail/mail.py`",
    "adapters/gateways/smtp_server.py": "members read it as JSON, and operators at the start",
    "adapters/gateways/stripe.py": "the log names it",
    "core/audit/analytics.py": "members read it as JSON",
    "core/audit/chain_verification.py": "the command that verifies an audit log prints it",
    "core/billing/provider_events.py": "the payment provider reads it",
    "core/billing/signatures.py": "the payment provider reads it",
    "core/mail/routed_mail.py": "members read it as JSON",
    "core/openid/clients.py": "clients read it, as an error of OAuth",
    "core/openid/token_grants.py": "clients read it, as an error of OAuth",
    "core/openid/dpop.py": "clients read it, as an error of OAuth",
    "core/openid/refusals.py": "clients read it, as an error of OAuth",
    "core/organizations/key_callers.py": "programs with a key of an organization read it",
    "core/platform/backups.py": "operators read it in a terminal",
    "core/platform/health_figures.py": "operators read it as JSON",
    "core/platform/commands.py": "operators read it in a terminal",
    "core/platform/housekeeping.py": "the log names it",
    "core/service_api": "the backends of services read it",
    "core/sessions/signing_keys.py": "the log names it",
    "core/sign_in/provider_tokens.py": "programs read it",
    "core/webhooks/events.py": "members read it as JSON",
    "entrypoints/pages/reference": "it documents the interface for developers",
    "entrypoints/web/input/explanations.py": "forms take any text, so that only bodies in JSON are explained by it",
    "entrypoints/web/serving/connection/protocols.py": "programs read it that do not speak HTTP as browsers do",
}
# A sentence about an attribute of SCIM begins with its name.
_SENTENCE: Final = re.compile(r"(?:[a-z]\w*: )?(?:[A-Z]|%\()[^\n]* [^\n]*[.?!]", re.DOTALL)
# What describes the interface to developers, and errors of the program itself.
_DESCRIBING: Final = frozenset({"Routes", "Meta", "partial", "_field", "TypeError"})
_WORDING: Final = "Wording"
# What tells a program to send a request: pages have another sentence in its place
# (`entrypoints/pages/frame/refusals.py`).
_FOR_REQUESTS: Final = re.compile(r"(?:GET|POST|PATCH|PUT|DELETE) /")


def texts() -> set[str]:
    """Return every sentence, and every part of one that is composed."""
    return {text for file in _files() for text in _texts(file)}


def composed_texts() -> list[str]:
    """Return where a sentence is composed in a way that forgets its parts."""
    return [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in _files()
        for node in _shown(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.JoinedStr) and _is_sentence(_without_values(node))
    ]


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if not any(path == one or path.startswith(f"{one}/") for one in FOR_PROGRAMS):
                yield file


def _texts(file: Path) -> Iterator[str]:
    for node in _shown(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Constant(value=str() as text) if _is_sentence(text):
                yield text
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as text), *_]) if name == _WORDING:
                yield text
            case _:
                pass


def _is_sentence(text: str) -> bool:
    return _SENTENCE.fullmatch(text) is not None and not _FOR_REQUESTS.search(text)


def _shown(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a module without docstrings, assertions, members of enumerations and descriptions of the interface."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Assert) or _describes(inner):
            continue
        yield inner
        if not isinstance(inner, ast.JoinedStr):
            yield from _shown(inner)


def _describes(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.ClassDef(bases=bases):
            return any(isinstance(base, ast.Name) and base.id.endswith("Enum") for base in bases)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _DESCRIBING
        case _:
            return False


def _without_values(node: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "%(v)s" for part in node.values)
