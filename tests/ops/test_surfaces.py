"""What `ops/surface` prints about two commits; that it runs both is tested by comparing a commit with itself."""

import pytest

from ops import surfaces
from tests.documents import ROOT


def test_a_line_is_named_with_what_it_is() -> None:
    before = {"routes": ["GET /a public"], "metrics": ["# HELP a_total Things."]}
    after = {"routes": ["GET /a public", "GET /b user"], "metrics": ["# HELP a_total Things."]}

    assert list(surfaces.differences(before, after)) == ["routes +GET /b user"]


def test_versions_and_ports_are_no_difference() -> None:
    before = {"openapi": [' info version: "0.3.0.dev7+g2dfd231"', " servers: http://127.0.0.1:4711/"]}
    after = {"openapi": [' info version: "0.3.1"', " servers: http://127.0.0.1:815/"]}

    assert list(surfaces.differences(before, after)) == []


@pytest.mark.long
def test_a_commit_has_the_surface_of_itself(capfd: pytest.CaptureFixture[str]) -> None:
    # The files here are compared with a copy of them.
    status = surfaces.main(["HEAD", "HEAD"])

    said = capfd.readouterr()
    assert (status, said.out) == (0, ""), said.err
    assert "nothing differs" in said.err


def test_the_command_is_there() -> None:
    assert (ROOT / "ops/surface").stat().st_mode & 0o111
