"""The rules of `ops/monitoring/alerts.yaml`, evaluated by promtool on real scrapes of real servers."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.documents import ROOT
from tests.processes import Service

MONITORING: Final = ROOT / "ops" / "monitoring"
ALERTS: Final = MONITORING / "alerts.yaml"
PROMTOOL: Final = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None and "CI" not in os.environ, reason="promtool is not installed (apt-get install prometheus)"
)
PROMTOOL_SECONDS_MAX: Final = 120
# A counter whose growth a query asks for, and by which labels it chooses.
COUNTED: Final = re.compile(r"\b(?:rate|increase)\(\s*(sso_\w+)(?:\{([^}]*)\})?\[")


def alerts() -> dict[str, dict[str, str]]:
    """Return the alerts by name: their queries, severities, summaries and runbooks."""
    found: dict[str, dict[str, str]] = {}
    for part in ALERTS.read_text().split("      - alert: ")[1:]:
        name, _, rest = part.partition("\n")
        query = re.search(r"expr: \|-\n((?: {10}.*\n)+)", rest)
        assert query is not None, name
        fields = dict(re.findall(r"^ +(severity|summary|runbook): '?(.*?)'?$", rest, re.MULTILINE))
        found[name] = fields | {"query": query[1]}
    return found


def records() -> dict[str, str]:
    """Return the queries whose results the alerts name, by the name of the result."""
    parts = (part.partition("\n") for part in ALERTS.read_text().split("      - record: ")[1:])
    return {
        name: "\n".join(re.findall(r"^ {10}.*$", rest.split("      - ")[0], re.MULTILINE)) for name, _, rest in parts
    }


def promtool(*arguments: str | Path) -> str:
    """Run promtool, which must agree, and return what it prints."""
    command = [PROMTOOL or "promtool", *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=PROMTOOL_SECONDS_MAX, cwd=MONITORING
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass
class Scrapes:
    """What Prometheus would have got from a server: each scrape at the minute, or other `step`, that the test gives it.

    The values are the server's; only the time between two scrapes differs, because no test waits an hour.
    """

    folder: Path
    step: str = "1m"
    steps: list[int] = field(default_factory=list[int])
    samples: list[dict[str, float]] = field(default_factory=list[dict[str, float]])

    def take(self, service: Service, *, at: int, instance: str = "a:8000") -> dict[str, float]:
        """Scrape a server, as if so many steps after the first scrape; return the values of its series."""
        about = f'instance="{instance}",job="gatehouse"'
        try:
            text = service.get("/metrics").content.decode()
        except OSError:
            found: dict[str, float] = {f"up{{{about}}}": 0}
        else:
            found = {f"up{{{about}}}": 1}
            for family in text_string_to_metric_families(text):
                for sample in family.samples:
                    labels = "".join(f",{name}={json.dumps(value)}" for name, value in sorted(sample.labels.items()))
                    found[f"{sample.name}{{{about}{labels}}}"] = sample.value
        self.steps.append(at)
        self.samples.append(found)
        return found

    def holds(self, alert: str) -> bool:
        """Return whether the expression of an alert holds at the last scrape, whatever time it has to hold for."""
        test = {
            "rule_files": [str(ALERTS)],
            "evaluation_interval": self.step,
            "tests": [
                {
                    "interval": self.step,
                    "input_series": [
                        {"series": series, "values": self._values(series)}
                        for series in sorted({name for found in self.samples for name in found})
                    ],
                    "promql_expr_test": [
                        {
                            "expr": f"count({alerts()[alert]['query']}) > bool 0 or vector(0)",
                            "eval_time": f"{self.steps[-1] * int(self.step[:-1])}{self.step[-1]}",
                            "exp_samples": [{"labels": "{}", "value": 1}],
                        }
                    ],
                }
            ],
        }
        # JSON is YAML.
        file = self.folder / f"{alert}.yaml"
        file.write_text(json.dumps(test))
        command = [PROMTOOL or "promtool", "test", "rules", file]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PROMTOOL_SECONDS_MAX)
        said = done.stdout + done.stderr
        assert done.returncode == 0 or re.search(r"got:.*\{\} 0E\+00", said), said
        return done.returncode == 0

    def _values(self, series: str) -> str:
        by_step = {at: found.get(series) for at, found in zip(self.steps, self.samples, strict=True)}
        values = [by_step.get(step) for step in range(self.steps[-1] + 1)]
        return " ".join("_" if value is None or math.isnan(value) else repr(value) for value in values)
