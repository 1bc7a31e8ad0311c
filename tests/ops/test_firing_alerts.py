"""Each alert fires on the series that call for it, by promtool, and on no others."""

from __future__ import annotations

from tests.ops.alert_rules import MONITORING, alerts, needs_promtool, promtool

CASES = (MONITORING / "alerts_test.yaml", MONITORING / "alerts_days_test.yaml")


@needs_promtool
def test_each_alert_fires_when_it_should_and_none_where_all_is_well() -> None:
    cases = "".join(file.read_text() for file in CASES)

    assert "SUCCESS" in promtool("test", "rules", *CASES)
    for name in alerts():
        assert f"- name: {name} fires\n" in cases, name
        assert f"alertname: {name}, exp_alerts: []" in cases, name
