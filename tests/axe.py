"""What axe-core finds wrong with the accessibility of an open page."""

from __future__ import annotations

from functools import cache

from playwright.sync_api import Page

from tests.peers import peer

RUN = """
async () => {
  const found = await axe.run(document, {resultTypes: ['violations']});
  return found.violations.flatMap(
    violation => violation.nodes.map(node => `${violation.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`));
}
"""


def violations(page: Page) -> list[str]:
    """Return each violation of the page as it is shown now."""
    # Evaluated by the browser's debugger, which the security policy of the page does not stop.
    page.evaluate(_source())
    return page.evaluate(RUN)


@cache
def _source() -> str:
    modules = peer("axe-core").programs.parent
    return (modules / "axe-core" / "axe.min.js").read_text("utf-8")
