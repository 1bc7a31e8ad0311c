"""The manifests for Kubernetes: valid, and in agreement with the settings, the routes and the image of this version."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.crypto.vault import MasterKey
from entrypoints import capabilities, settings
from entrypoints.operator import cli
from tests.documents import ROOT
from tests.peers import Peer, peer

# The programs that check and read the manifests are installed first; CI runs these.
pytestmark = pytest.mark.long

FOLDER: Final = ROOT / "ops" / "kubernetes"
MANIFESTS: Final = [FOLDER / f"{name}.yaml" for name in ("gatehouse", "migrate", "secret.example")]
# The oldest that we expect to meet, and the newest that the program knows.
VERSIONS: Final = ("1.29", "1.37")
# What the server adds to its two settings until it has ended (ops/docs/production.md).
STOP_SECONDS_BESIDE: Final = 30
READ = "import json, sys, yaml; print(json.dumps([one for f in sys.argv[1:] for one in yaml.safe_load_all(open(f))]))"


@pytest.fixture(scope="module")
def validator() -> Peer:
    """The program that checks manifests against the schemas of Kubernetes."""
    return peer("kubernetes-validate")


@pytest.fixture(scope="module")
def objects(validator: Peer) -> dict[tuple[str, str], Any]:
    """Every object of the manifests, by its kind and its name."""
    done = validator.run("python", "-c", READ, *map(str, MANIFESTS), folder=FOLDER)
    assert done.returncode == 0, done.stderr
    return {(one["kind"], one["metadata"]["name"]): one for one in json.loads(done.stdout)}


def containers(objects: dict[tuple[str, str], Any]) -> list[tuple[Any, Any]]:
    """Return the specification of each pod, with its only container."""
    pods = [one["spec"]["template"]["spec"] for (kind, _), one in objects.items() if kind in {"Deployment", "Job"}]
    assert len(pods) == 2
    return [(pod, *pod["containers"]) for pod in pods]


def mounted(pod: Any, container: Any) -> dict[str, tuple[str, str]]:
    """Return the secret and its key for the path of each file that a container finds."""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    return {
        f"{mount['mountPath']}/{item['path']}": (volumes[mount["name"]]["secret"]["secretName"], item["key"])
        for mount in container["volumeMounts"]
        for item in volumes[mount["name"]].get("secret", {}).get("items", [])
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifests_are_valid(validator: Peer, version: str, tmp_path: Path) -> None:
    files = [str(manifest) for manifest in MANIFESTS]

    done = validator.run("kubernetes-validate", "--strict", "-k", version, *files, folder=tmp_path)

    assert (done.returncode, len(MANIFESTS)) == (0, 3), done.stdout + done.stderr
    assert done.stdout.count(" passed ") + done.stderr.count(" passed ") >= 10


def test_they_name_settings_that_exist_with_values_that_are_taken(objects: dict[tuple[str, str], Any]) -> None:
    config = objects["ConfigMap", "gatehouse"]["data"]
    for pod, container in containers(objects):
        files = mounted(pod, container)
        given = dict(config) if "envFrom" in container else {}
        for variable in container["env"]:
            name = variable["name"]
            assert name.endswith("_FILE")
            assert name in settings.names()
            secret, key = files[variable["value"]]
            text = objects["Secret", secret]["stringData"][key]
            given[name.removesuffix("_FILE")] = MasterKey.generate().encoded() if key == "master-keys" else text

        loaded = settings.load(given)

        assert settings.unknown(given) == []
        assert not loaded.is_embedded
        assert loaded.database_url is not None
        # The authority by which the database is verified is a file that the container finds.
        assert conninfo_to_dict(loaded.database_url.reveal())["sslrootcert"] in files


def test_ports_and_probes_are_those_of_the_server(objects: dict[tuple[str, str], Any]) -> None:
    config = objects["ConfigMap", "gatehouse"]["data"]
    [bind] = re.findall(r"GATEHOUSE_BIND=\S+:(\d+)", (ROOT / "ops" / "Dockerfile").read_text())
    container = objects["Deployment", "gatehouse"]["spec"]["template"]["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    paths = {route.path for route in capabilities.routes(is_development=False)}
    probes = [container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
    services = [one for (kind, _), one in objects.items() if kind == "Service"]
    rules = objects["NetworkPolicy", "gatehouse"]["spec"]["ingress"]

    assert ports == {"http": int(bind), "metrics": int(config["GATEHOUSE_METRICS_BIND"].rpartition(":")[2])}
    assert {probe["path"] for probe in probes} == {"/health/live", "/health/ready"} <= paths
    assert {probe["port"] for probe in probes} == {"http"}
    assert {port["targetPort"] for one in services for port in one["spec"]["ports"]} == set(ports)
    assert {port["port"] for rule in rules for port in rule["ports"]} == set(ports)


def test_a_pod_is_killed_only_after_its_server_has_had_the_time_to_stop(objects: dict[tuple[str, str], Any]) -> None:
    config = objects["ConfigMap", "gatehouse"]["data"]
    pod = objects["Deployment", "gatehouse"]["spec"]["template"]["spec"]

    seconds = sum(int(config[f"GATEHOUSE_{name}_SECONDS"]) for name in ("DRAIN", "SHUTDOWN"))

    assert pod["terminationGracePeriodSeconds"] >= seconds + STOP_SECONDS_BESIDE > STOP_SECONDS_BESIDE


def test_every_selector_finds_the_pods_of_the_server_alone(objects: dict[tuple[str, str], Any]) -> None:
    deployment = objects["Deployment", "gatehouse"]["spec"]
    labels = deployment["template"]["metadata"]["labels"].items()
    others = objects["Job", "gatehouse-migrate"]["spec"]["template"]["metadata"]["labels"].items()
    spread = deployment["template"]["spec"]["topologySpreadConstraints"][0]
    selectors = [
        deployment["selector"]["matchLabels"],
        spread["labelSelector"]["matchLabels"],
        objects["PodDisruptionBudget", "gatehouse"]["spec"]["selector"]["matchLabels"],
        *(one["spec"]["selector"] for (kind, _), one in objects.items() if kind == "Service"),
    ]

    assert len(selectors) == 5
    for selector in selectors:
        assert selector.items() <= labels
        assert not selector.items() <= others


def test_containers_run_the_commands_of_this_version_without_rights(
    objects: dict[tuple[str, str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    [user] = re.findall(r"^USER (\d+)$", (ROOT / "ops" / "Dockerfile").read_text(), re.MULTILINE)
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    ([a-z]+) ", capsys.readouterr().out.partition("\ncommands:\n")[2], re.MULTILINE)

    for pod, container in containers(objects):
        assert container["image"].endswith(f"/gatehouse:{version}")
        assert container["args"][0] in commands
        assert pod["securityContext"]["runAsUser"] == int(user)
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert pod["automountServiceAccountToken"] is False
