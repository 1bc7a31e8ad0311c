"""The kit installs a wheel or a copy that is named by its path, and nothing by its name."""

from __future__ import annotations

import pytest

from gatehouse_client.testing.installing import installed_command


@pytest.mark.parametrize("name", ["", "gatehouse", "gatehouse==0.3.0", "gatehouse @ https://example.com/gatehouse.whl"])
def test_a_name_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")

    with pytest.raises(RuntimeError, match="--gatehouse-requirement"):
        installed_command(name)
