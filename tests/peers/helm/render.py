"""Renders the chart with Helm's own library.

    python render.py CHART VALUES…

Each of VALUES is a file in YAML or JSON. Prints the chart's own values, what `helm lint --strict` finds, the objects of
the manifests beside the chart, and for each file the objects of the chart with it, or why it is refused.
"""

import importlib
import json
import sys
from pathlib import Path

helm = importlib.import_module("helm_python")


def objects(text: str) -> list[object]:
    """Return what the documents of a file in YAML are; one of comments alone is none."""
    return [found for document in f"\n{text}".split("\n---\n") if (found := helm.values_from_yaml(document))]


folder, *files = sys.argv[1:]
results: list[object] = []
with helm.Chart.load(folder) as chart:
    values = chart.values
    for file in files:
        given = helm.values_from_yaml(Path(file).read_text())
        try:
            chart.validate_schema(given)
            rendered = chart.render(given, name="gatehouse", namespace="identity")
        except helm.HelmValuesError as refused:
            results.append(str(refused))
        else:
            results.append([one for name, text in rendered.items() if name.endswith(".yaml") for one in objects(text)])
found = [message["error"] for message in helm.lint(folder, strict=True)["messages"] if message["severity"] > 1]
beside = [file for file in sorted(Path(folder).parent.glob("*.yaml")) if not file.name.endswith(".values.yaml")]
manifests = [one for file in beside for one in objects(file.read_text())]
sys.stdout.write(json.dumps({"values": values, "lint": found, "rendered": results, "manifests": manifests}))
