"""The Helm chart: rendered by Helm's own library, valid, and the same in substance as the manifests beside it."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from psycopg.conninfo import conninfo_to_dict

from entrypoints import settings
from tests.documents import MANUAL, ROOT
from tests.peers import peer

FOLDER: Final = ROOT / "ops" / "kubernetes"
CHART: Final = FOLDER / "chart"
SCHEMA: Final = CHART / "values.schema.json"
VERSIONS: Final = ("1.29", "1.37")
# What the chart and the image decide, so that no value may.
DECIDED: Final = {"GATEHOUSE_BIND", "GATEHOUSE_METRICS_BIND", "GATEHOUSE_DATA_DIR"}
# What Helm adds to the objects of the manifests, and the defaults of Kubernetes that the chart writes down.
ADDED: Final = {
    *("app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"),
    *("helm.sh/hook", "helm.sh/hook-weight", "helm.sh/hook-delete-policy", "checksum/settings", "imagePullPolicy"),
}
# Their schemas belong to operators of others.
OF_OPERATORS: Final = {"ServiceMonitor", "Cluster"}
EVERYTHING: Final[dict[str, Any]] = {
    "replicas": 1,
    "image": {"digest": f"sha256:{'a' * 64}", "pullSecrets": ["registry"]},
    "settings": {
        "GATEHOUSE_BASE_URL": "https://id.example.com:8443",
        "GATEHOUSE_TRUSTED_PROXIES": None,
        "GATEHOUSE_ACCESS_TOKEN_TTL": 1200,
        "GATEHOUSE_AUTO_APPROVE": True,
        "GATEHOUSE_SHUTDOWN_SECONDS": 120,
    },
    "autoscaling": {"enabled": True},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "annotations": {"a": "b"},
        "hosts": ["login.customer.example"],
        "tlsSecret": "gatehouse-tls",
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "service": {"annotations": {"a": "b"}},
    "serviceAccount": {"annotations": {"a": "b"}},
    "podAnnotations": {"a": "b"},
    "podLabels": {"team": "identity"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "system-cluster-critical",
    "volumes": [{"name": "places", "configMap": {"name": "places"}}],
    "volumeMounts": [{"name": "places", "mountPath": "/etc/places"}],
}
LITTLE: Final = {
    "replicas": 1,
    "migration": {"enabled": False},
    "networkPolicy": {"enabled": False},
    "secrets": {"name": "other", "files": []},
}
REFUSED: Final = (
    ({"replica": 3}, "'replica' not allowed"),
    ({"settings": {"GATEHOUSE_BASEURL": "https://id.example.com"}}, "'GATEHOUSE_BASEURL' not allowed"),
    ({"settings": {"GATEHOUSE_BASE_URL": None}}, "missing property 'GATEHOUSE_BASE_URL'"),
    ({"settings": {"GATEHOUSE_MASTER_KEYS": "a key in a ConfigMap"}}, "'GATEHOUSE_MASTER_KEYS' not allowed"),
    ({"secrets": {"settings": {"GATEHOUSE_NAME": "name"}}}, "'GATEHOUSE_NAME' not allowed"),
    ({"image": {"digest": "sha256:abc"}}, "does not match pattern"),
    ({"replicas": 0}, "minimum"),
)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Helm makes of the chart by several sets of values."""
    folder = tmp_path_factory.mktemp("values")
    sets = [{}, EVERYTHING, LITTLE, *(values for values, _ in REFUSED)]
    files = [folder / f"{number}.json" for number in range(len(sets))]
    for file, values in zip(files, sets, strict=True):
        file.write_text(json.dumps(values))
    helm = peer("helm")
    script = str(helm.files / "render.py")
    done = helm.run(
        "python", script, str(CHART), str(FOLDER / "cloudnative-pg.values.yaml"), *map(str, files), folder=folder
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    names = ("cloudnative-pg", "default", "everything", "little")
    return answer | dict(zip(names, answer["rendered"], strict=False)) | {"refused": answer["rendered"][len(names) :]}


def by_name(objects: list[Any]) -> dict[tuple[str, str], Any]:
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def substance(value: Any) -> Any:
    """Return an object without what Helm adds, and with lists of keys in one order."""
    if isinstance(value, dict):
        kept = {name: substance(one) for name, one in value.items() if name not in ADDED}
        return {name: one for name, one in kept.items() if (name, one) != ("annotations", {})}
    if isinstance(value, list):
        return sorted((substance(one) for one in value), key=json.dumps)
    return value


def flat(values: dict[str, Any], schema: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return the default of each value by its full name; what has names of others, such as settings, is one value."""
    found: dict[str, Any] = {}
    for name, default in values.items():
        declared = schema["properties"][name]
        if "$ref" in declared:
            declared = json.loads(SCHEMA.read_text())["$defs"][declared["$ref"].rpartition("/")[2]]
        if "properties" in declared and name != "settings":
            found |= flat(default, declared, f"{before}{name}.")
        else:
            found[before + name] = default
    return found


@pytest.mark.long
def test_by_default_the_chart_makes_what_the_manifests_have(rendered: dict[str, Any]) -> None:
    made, manifests = by_name(rendered["default"]), by_name(rendered["manifests"])
    # The objects of a hook come before all others, so the migration has a service account of its own.
    account = made.pop(("ServiceAccount", "gatehouse-migrate"))
    pod = made["Job", "gatehouse-migrate"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == account["metadata"]["name"]
    pod["serviceAccountName"] = "gatehouse"

    assert account["automountServiceAccountToken"] is False
    assert {name for name in manifests if name[0] not in {"Secret", "Cluster"}} - {
        ("ConfigMap", "gatehouse-db-roles")
    } == set(made)
    for name, one in made.items():
        assert substance(one) == substance(manifests[name])


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_what_it_makes_is_valid(rendered: dict[str, Any], version: str, tmp_path: Path) -> None:
    every = [one for name in ("default", "everything", "little", "cloudnative-pg") for one in rendered[name]]
    every += [one for one in rendered["manifests"] if one["metadata"]["name"].startswith("gatehouse-db")]
    checked = [one for one in every if one["kind"] not in OF_OPERATORS]
    for number, one in enumerate(checked):
        (tmp_path / f"{number}.yaml").write_text(json.dumps(one))

    files = map(str, sorted(tmp_path.glob("*.yaml")))
    done = peer("kubernetes-validate").run("kubernetes-validate", "--strict", "-k", version, *files, folder=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" passed ") + done.stderr.count(" passed ") == len(checked) > 30
    assert {one["kind"] for one in checked} >= {"Ingress", "HorizontalPodAutoscaler", "Job", "Secret"}
    assert {one["kind"] for one in every} >= OF_OPERATORS
    assert rendered["lint"] == []


@pytest.mark.long
def test_values_change_what_they_name(rendered: dict[str, Any]) -> None:
    made, little = by_name(rendered["everything"]), by_name(rendered["little"])
    config = made["ConfigMap", "gatehouse"]["data"]
    deployment = made["Deployment", "gatehouse"]["spec"]
    pod = deployment["template"]["spec"]
    hosts = ["id.example.com", "login.customer.example"]
    ingress = made["Ingress", "gatehouse"]["spec"]
    monitored = made["ServiceMonitor", "gatehouse"]["spec"]["selector"]["matchLabels"].items()

    loaded = settings.load(config)
    assert settings.unknown(config) == []
    assert (loaded.auto_approve, loaded.trusted_proxies) == (True, ())
    assert loaded.access_token_ttl.total_seconds() == 1200
    # Longer than the server may take to stop (ops/docs/production.md).
    assert pod["terminationGracePeriodSeconds"] > loaded.drain_seconds + loaded.shutdown_seconds + 30
    assert pod["containers"][0]["image"] == f"registry.example.com/gatehouse@{EVERYTHING['image']['digest']}"
    assert "replicas" not in deployment
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert [rule["host"] for rule in ingress["rules"]] == ingress["tls"][0]["hosts"] == hosts
    services = [
        name
        for (kind, name), one in made.items()
        if kind == "Service" and monitored <= one["metadata"]["labels"].items()
    ]
    assert services == ["gatehouse-metrics"]
    # One pod with such a budget would keep its node from being emptied.
    assert {kind for kind, _ in little} == {"ConfigMap", "Deployment", "Service", "ServiceAccount"}


@pytest.mark.long
def test_unknown_values_and_secrets_among_the_settings_are_refused(rendered: dict[str, Any]) -> None:
    for (values, reason), refusal in zip(REFUSED, rendered["refused"], strict=True):
        assert isinstance(refusal, str), values
        assert reason in refusal


@pytest.mark.long
def test_the_example_of_cloudnativepg_fits_the_chart_and_the_roles(rendered: dict[str, Any]) -> None:
    objects, made = by_name(rendered["manifests"]), by_name(rendered["cloudnative-pg"])
    cluster = objects["Cluster", "gatehouse-db"]["spec"]
    first, [role] = cluster["bootstrap"]["initdb"], cluster["managed"]["roles"]
    [address] = re.findall(r"postgresql://\S+", (FOLDER / "cloudnative-pg.values.yaml").read_text())
    named = conninfo_to_dict(address)
    sql = (ROOT / "ops" / "database" / "roles.sql").read_text()

    assert objects["Secret", first["secret"]["name"]]["stringData"]["username"] == first["owner"] == "gatehouse_owner"
    assert objects["Secret", role["passwordSecret"]["name"]]["stringData"]["username"] == role["name"] == named["user"]
    # Without the commands of psql, which the operator does not know.
    [transaction] = re.findall(r"^BEGIN;$.*^COMMIT;$", sql, re.MULTILINE | re.DOTALL)
    assert objects["ConfigMap", "gatehouse-db-roles"]["data"]["roles.sql"].strip() == transaction
    assert (named["host"], named["dbname"]) == ("gatehouse-db-rw", first["database"])
    for kind, name in (("Deployment", "gatehouse"), ("Job", "gatehouse-migrate")):
        pod = made[kind, name]["spec"]["template"]["spec"]
        mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        [authority] = [volume["secret"] for volume in pod["volumes"] if volume["name"] == "database-authority"]
        # The other key of that Secret is the private one.
        assert authority["items"] == [{"key": "ca.crt", "path": "ca.crt"}]
        assert authority["secretName"] == "gatehouse-db-ca"
        assert named["sslrootcert"] == f"{mounts['database-authority']}/ca.crt"


@pytest.mark.long
def test_the_manual_has_a_row_for_each_value(rendered: dict[str, Any]) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*?) \| .+ \|$", (MANUAL / "kubernetes.md").read_text(), re.MULTILINE)
    expected: dict[str, str] = {}
    for name, default in flat(rendered["values"], json.loads(SCHEMA.read_text())).items():
        is_long = isinstance(default, dict | list) and len(default) > 0
        text = default if isinstance(default, str) else json.dumps(default)
        expected[name] = "as in the file" if is_long else f"`{text}`" if text else ""

    assert dict(rows) == expected
    assert len(rows) == len(expected)


def test_the_schema_has_every_setting_of_this_version() -> None:
    schema = json.loads(SCHEMA.read_text())
    files = [name for name in settings.names() if name.endswith(settings.FILE_SUFFIX)]
    secrets = [name.removesuffix(settings.FILE_SUFFIX) for name in files]
    plain = [name for name in settings.names() if name not in {*secrets, *files, *DECIDED}]
    declared = json.loads(json.dumps(schema))
    declared["properties"]["settings"]["properties"] = {name: {"$ref": "#/$defs/value"} for name in plain}
    declared["$defs"]["secrets"]["properties"]["settings"]["properties"] = {
        name: {"$ref": "#/$defs/key"} for name in secrets
    }

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        SCHEMA.write_text(json.dumps(declared, indent=2) + "\n")
        return

    assert schema == declared, (
        "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/ops/test_helm_chart.py -k schema"
    )


def test_the_chart_has_the_version_of_the_release() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert re.findall(r"^(?:appV|v)ersion: (.+)$", (CHART / "Chart.yaml").read_text(), re.MULTILINE) == [
        version,
        version,
    ]
