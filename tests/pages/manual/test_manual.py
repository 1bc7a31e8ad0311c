"""The manual is served whole: each page leads on within the installation, and is found by what it is about."""

from __future__ import annotations

import gzip
import re
from html import unescape

import pytest

from entrypoints.pages.manual.contents import pages
from tests.application import Client
from tests.documents import PAGES, RUNBOOKS
from tests.shown_text import shows

# Uncompressed; `security/asvs` is the longest.
PAGE_BYTES_MAX = 200_000
HREF = re.compile(r'(?:href|src)="([^"]+)"')


def found(html: str) -> list[str]:
    """Return the addresses that a search has found, in their order."""
    return re.findall(r'href="([^"]+)"', html.partition('<ol class="found-pages">')[2].partition("</ol>")[0])


async def test_every_link_of_the_manual_leads_within_the_installation(
    client: Client, subtests: pytest.Subtests
) -> None:
    documents = {"/docs/manual": (await client.get("/docs/manual")).text}
    documents |= {page.path: (await client.get(page.path)).text for page in pages().values()}
    anchors = {path: re.findall(r'\bid="([^"]+)"', html) for path, html in documents.items()}
    others: set[str] = set()

    for path, html in documents.items():
        with subtests.test(path):
            assert len(anchors[path]) == len(set(anchors[path]))
            assert len(html) < PAGE_BYTES_MAX
            assert "<script" not in html
            for link in map(unescape, HREF.findall(html)):
                target, _, anchor = link.partition("#")
                if target.startswith(("http:", "https:", "mailto:")):
                    continue
                if anchor:
                    assert anchor in anchors[target or path], link
                if target not in documents:
                    others.add(target)
    assert "/docs/manual/images/sign-in.png" in others
    for target in sorted(others - {""}):
        assert (await client.get(target)).status in {200, 302}, target


async def test_the_markdown_of_a_page_leads_to_that_of_others(client: Client, subtests: pytest.Subtests) -> None:
    for page in pages().values():
        with subtests.test(page.slug):
            answer = await client.get(f"{page.path}.md")

            assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
            assert answer.text.splitlines()[0] == page.text.splitlines()[0]
            prose = re.sub(r"^ *```.*?^ *```$", "", answer.text, flags=re.MULTILINE | re.DOTALL)
            for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", prose):
                assert (await client.get(link)).status == 200, link


def test_every_page_of_the_repository_is_in_one_group() -> None:
    slugs = list(pages())

    assert len(slugs) == len(set(slugs))
    assert {page.file.rpartition("/")[2] for page in pages().values()} >= {page.name for page in (*PAGES, *RUNBOOKS)}
    assert {"readme", "openid", "guides/nextjs", "security/asvs", "runbooks/mail"} <= set(slugs)


async def test_pages_have_the_headers_of_a_page_may_be_revalidated_and_say_their_version(client: Client) -> None:
    for path in ("/docs/manual", "/docs/manual/webhooks", "/docs/manual/guides/fastapi"):
        first = await client.get(path)
        second = await client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        compressed = await client.get(path, headers={"Accept-Encoding": "gzip"})

        assert "default-src 'none'; style-src 'self'" in first.headers["Content-Security-Policy"]
        assert not shows(first.headers["Content-Security-Policy"], "connect-src")
        assert first.headers["Cache-Control"] == "no-cache"
        assert second.status == 304
        assert gzip.decompress(compressed.content) == first.content
        assert re.search(r'<span class="version">Version \d+\.\d+', first.text) is not None


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "nothing.md",
        "guides",
        "guides/",
        "webhooks.md.md",
        "../settings",
        "source/ops/docs/webhooks",
        "images/nothing.png",
        "images/..%2F..%2Fcontents.py",
    ],
)
async def test_another_name_is_no_page(client: Client, path: str) -> None:
    answer = await client.get(f"/docs/manual/{path}")

    assert answer.status == 404


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("backchannel", "openid#back-channel-logout"),
        ("back-channel logout", "openid#back-channel-logout"),
        ("GitHub", "single-sign-on#github-google-microsoft-and-other-providers"),
        ("Google", "single-sign-on#github-google-microsoft-and-other-providers"),
        ("Microsoft", "single-sign-on#github-google-microsoft-and-other-providers"),
        ("codehost", "single-sign-on#github-google-microsoft-and-other-providers"),
        ("create customer", "guides/customers"),
        ("create a customer", "guides/customers"),
        ("verify webhook", "webhooks#verifying-a-delivery"),
        ("verifying webhooks", "webhooks#verifying-a-delivery"),
        ("webhook signature", "webhooks#verifying-a-delivery"),
        ("okta", "guides/identity-provider"),
        ("passkeys", "sign-in#passkeys"),
        ("docker", "installing#the-image"),
        ("k8s", "kubernetes"),
        ("billing_price_id", "billing#selling"),
        ("GATEHOUSE_AUTO_APPROVE", "getting-started#an-organization-of-your-own"),
        ("import keycloak", "importing-accounts"),
        ("spa", "guides/single-page"),
        ("vue", "guides/single-page"),
        ("tenant", "guides/customers"),
        ("2FA", "sign-in#second-factors"),
        ("backup", "upgrading#backup"),
        ("prometheus", "monitoring#what-to-scrape"),
        ("custom domain", "organization-settings#a-domain-of-its-own"),
        ("logo", "organization-settings#branding"),
        ("invite people", "organizations#invitations"),
        ("impersonate", "runbooks/impersonation"),
        ("gdpr", "privacy"),
        ("set up smtp", "mail#the-mail-server"),
        ("create service", "openid#registering-a-service"),
        ("api keys", "management-keys"),
    ],
)
async def test_a_search_finds_what_is_meant_among_the_first_two(client: Client, text: str, address: str) -> None:
    answer = await client.get(f"/docs/manual?q={text.replace(' ', '+')}")

    assert f"/docs/manual/{address}" in found(answer.text)[:2]


async def test_a_search_shows_what_was_typed_and_finds_nothing_for_other_words(client: Client) -> None:
    nothing = (await client.get("/docs/manual?q=%3Czebrazebra%3E")).text

    assert "No page has these words: “&lt;zebrazebra&gt;”" in nothing
    assert 'value="&lt;zebrazebra&gt;"' in nothing
    assert "Manual" in (await client.get("/docs/manual?q=+")).text
    assert len(found((await client.get("/docs/manual?q=gatehouse")).text)) <= 20
    assert (await client.get(f"/docs/manual?q={'a' * 255}")).status == 400


async def test_language_models_have_a_list_of_the_pages_in_markdown(client: Client) -> None:
    answer = await client.get("/llms.txt")
    title, _, summary, *rest = answer.text.splitlines()

    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert title.startswith("# ")
    assert summary.startswith("> ")
    assert "## Runbooks" in rest
    assert re.findall(r"\]\(http://[^/]+(/docs/manual/[^)]+)\.md\)", answer.text) == [
        page.path for page in pages().values()
    ]
