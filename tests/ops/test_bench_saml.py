"""The measurement of the SAML hop, with few of them."""

from __future__ import annotations

import pytest

from ops.benchmarks import saml


@pytest.mark.long
def test_every_figure_of_the_hop_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SECONDS", 1), ("ROUNDS", 1), ("HOPS_PER_SECOND", 10), ("BROWSERS", 2)):
        monkeypatch.setattr(saml, name, value)
    lines: list[str] = []

    figures = saml.saml(lines.append)

    assert [figure.unit for figure in figures] == ["ms"] * 3
    assert all(figure.values.median > 0 for figure in figures)
    assert any("SAML hop" in line for line in lines)
