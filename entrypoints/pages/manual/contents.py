"""The pages of the manual: the path of each in the repository and in addresses, and the order of all."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.manual.markdown import Section, Target, plain_text, sections_of, with_links

MANUAL: Final = "/docs/manual"
PICTURES: Final = "images"
# Links that lead to the files of the repository, under their paths there; a wheel has the files themselves.
_SOURCE: Final = Path(__file__).parent / "source"
_DOCUMENTS: Final = "ops/docs"
_RUNBOOKS: Final = "ops/runbooks"
_OTHERS: Final = {"readme": "README.md", "security-policy": "SECURITY.md"}
# Every page stands in one group; `*` are all pages of a folder.
GROUPS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("Start", ("readme", "getting-started", "tour")),
    (
        "Sign people in to your product",
        (
            "guides/fastapi",
            "guides/django",
            "guides/flask",
            "guides/express",
            "guides/nextjs",
            "guides/single-page",
            "guides/api",
            "guides/scopes",
            "guides/claims",
            "guides/customers",
            "guides/onboarding",
            "guides/identity-provider",
            "guides/selling-a-plan",
            "guides/testing",
        ),
    ),
    ("Develop", ("openid", "python", "clients", "webhooks", "management-keys", "workloads", "limits", "keys")),
    (
        "Look after an organization",
        (
            "organizations",
            "customers",
            "products",
            "sign-in",
            "single-sign-on",
            "providers",
            "sign-in-problems",
            "scim",
            "saml",
            "programs",
            "organization-settings",
            "billing",
            "audit",
            "privacy",
        ),
    ),
    (
        "Run Gatehouse",
        (
            "installing",
            "kubernetes",
            "production",
            "settings",
            "commands",
            "platform",
            "monitoring",
            "reverse-proxy",
            "mail",
            "passwords",
            "importing-accounts",
            "retention",
            "upgrading",
            "sizing",
            "benchmarks",
            "database",
            "high-availability",
            "cluster",
        ),
    ),
    ("Runbooks", ("runbooks/*",)),
    ("Assess its security", ("security-policy", "verification", "security/*")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualPage:
    """A page: its name in addresses, its path in the repository, its group, and what it begins with."""

    slug: str
    file: str
    group: str
    title: str
    summary: str

    @property
    def path(self) -> str:
        """The path under which it is served."""
        return f"{MANUAL}/{self.slug}"

    @property
    def text(self) -> str:
        """Its Markdown, as it is in the repository."""
        return (_SOURCE / self.file).read_text("utf-8")

    @property
    def source(self) -> str:
        """Its Markdown, with links that lead to the Markdown of other pages."""
        return with_links(self.text, lambda link: self.resolve(link, suffix=".md"))

    @property
    def sections(self) -> Sequence[Section]:
        """Its sections."""
        return sections_of(self.text)

    def resolve(self, link: str, *, suffix: str = "") -> Target:
        """Return where a link of this page leads."""
        path, hash_mark, anchor = link.partition("#")
        if not path:
            return Target(address=link)
        file = posixpath.normpath(posixpath.join(posixpath.dirname(self.file), path))
        if file.startswith(f"{_DOCUMENTS}/{PICTURES}/"):
            return Target(address=f"{MANUAL}/{file.removeprefix(_DOCUMENTS + '/')}")
        slug = _slugs().get(file)
        return Target(file=file) if slug is None else Target(address=f"{MANUAL}/{slug}{suffix}{hash_mark}{anchor}")


def is_page(slug: str) -> bool:
    """Return whether a page has this name; none is read."""
    return slug in _files()


@cache
def pages() -> Mapping[str, ManualPage]:
    """Return all pages by their names, in the order of their groups."""
    files = _files()
    found: dict[str, ManualPage] = {}
    for group, names in GROUPS:
        for name in names:
            folder = name.removesuffix("*")
            slugs = [name] if folder == name else sorted(slug for slug in files if slug.startswith(folder))
            for slug in slugs:
                found[slug] = _page(slug, files[slug], group)
    return found


@cache
def pictures() -> Mapping[str, bytes]:
    """Return the pictures by their names."""
    return {file.name: file.read_bytes() for file in sorted((_SOURCE / _DOCUMENTS / PICTURES).iterdir())}


@cache
def _files() -> Mapping[str, str]:
    """Return the paths of all pages in the repository, by their names in addresses."""
    return {slug: file for file, slug in _slugs().items()}


@cache
def _slugs() -> Mapping[str, str]:
    """Return the names of all pages in addresses, by their paths in the repository."""
    slugs = {file: slug for slug, file in _OTHERS.items()}
    for folder, prefix in ((_DOCUMENTS, ""), (_RUNBOOKS, "runbooks/")):
        root = _SOURCE / folder
        for file in sorted([*root.glob("*.md"), *root.glob("*/*.md")]):
            name = file.relative_to(root).as_posix()
            slugs[f"{folder}/{name}"] = prefix + name.removesuffix(".md")
    return slugs


def _page(slug: str, file: str, group: str) -> ManualPage:
    first, *_ = sections_of((_SOURCE / file).read_text("utf-8"))
    paragraph = "\n".join(first.lines).strip().partition("\n\n")[0].replace("\n", " ")
    summary = "" if paragraph.startswith(("|", "- ", "```", "!")) else plain_text(paragraph)
    return ManualPage(slug=slug, file=file, group=group, title=plain_text(first.heading.text), summary=summary)
