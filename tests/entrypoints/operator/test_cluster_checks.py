"""What the doctor says of a cluster."""

from __future__ import annotations

import pytest

from core.platform.system import Cluster, ClusterNode
from entrypoints.operator import cluster_checks

GIB = 2**30


def node(name: str, *, shards: int = 4, size: int = GIB, is_up: bool = True) -> ClusterNode:
    return ClusterNode(name=name, is_up=is_up, shards=shards, bytes=size)


@pytest.mark.parametrize(
    ("nodes", "local_logs", "expected"),
    [
        ([node("a"), node("b")], [], [(True, "every node answers, and holds its part of the logs: a (4 shards")]),
        ([], ["mails"], [(True, "the database has citus and no worker")]),
        ([node("a"), node("b", is_up=False)], [], [(False, "nodes that do not answer: b")]),
        ([node("a")], ["mails"], [(False, "logs that lie on the coordinator: mails")]),
        ([node("a"), node("b", shards=0)], [], [(False, "nodes that hold nothing yet: b")]),
        ([node("a", size=30 * GIB), node("b")], [], [(False, "the fullest node holds 1.9 times an even share")]),
        # Of so few bytes nothing follows.
        ([node("a", size=3 * GIB), node("b", size=GIB // 2)], [], [(True, "every node answers")]),
    ],
)
def test_each_thing_that_is_not_as_it_should_be_is_named(
    nodes: list[ClusterNode], local_logs: list[str], expected: list[tuple[bool, str]]
) -> None:
    found = list(cluster_checks.findings(Cluster(nodes=nodes, local_logs=local_logs)))

    assert [
        (finding.is_ok, finding.what[: len(start)]) for finding, (_, start) in zip(found, expected, strict=True)
    ] == (expected)
    assert all(finding.advice for finding in found if not finding.is_ok)
