"""The cluster of the logs: which nodes are down, empty or fuller than others."""

from __future__ import annotations

from core.platform.system import Cluster, ClusterNode


def node(name: str, *, shards: int = 4, size: int = 100, is_up: bool = True) -> ClusterNode:
    return ClusterNode(name=name, is_up=is_up, shards=shards, bytes=size)


def test_nodes_that_are_down_or_hold_nothing_are_named_and_the_skew_is_of_those_that_answer() -> None:
    cluster = Cluster(
        nodes=[node("a", size=300), node("b"), node("c", is_up=False, size=0), node("d", shards=0, size=0)],
        local_logs=["mails"],
    )

    assert (cluster.down, cluster.empty) == (["c"], ["d"])
    assert (cluster.bytes, cluster.skew) == (400, 300 * 3 / 400)


def test_nodes_that_hold_nothing_are_no_skew_and_none_of_them_is_empty_before_the_first_log() -> None:
    cluster = Cluster(nodes=[node("a", shards=0, size=0)], local_logs=[])

    assert (cluster.empty, cluster.skew) == ([], 1.0)
    assert Cluster(nodes=[], local_logs=[]).skew == 1.0
