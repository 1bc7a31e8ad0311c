"""What has changed: the working tree and the commits since one; everything, where that commit is unknown."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ops.testing import changes as module
from ops.testing.changes import Changes, changes
from ops.testing.gate import Plan, plan_of


def git(repository: Path, *arguments: str) -> str:
    """Run git as an author, and return what it printed."""
    author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    done = subprocess.run(["git", "-C", repository, *author, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits, in which the file names none yet."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "PASSED_AT", tmp_path / "passed-at")
    git(tmp_path, "init", "--quiet")
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "--quiet", "--message", name)
    return tmp_path


def test_without_a_known_commit_every_file_counts_as_changed(clone: Path) -> None:
    assert changes().files is None
    (clone / "passed-at").write_text("0" * 40 + "\n")
    assert changes().files is None
    assert changes().touch(["no/such/folder/"])


def test_commits_since_then_and_the_working_tree_count_deleted_and_new_files_included(clone: Path) -> None:
    (clone / "passed-at").write_text(git(clone, "rev-parse", "HEAD~1") + "\n")
    (clone / "third").write_text("new")
    (clone / "first").unlink()

    found = changes()

    assert found.files == {"first", "second", "third"}
    assert changes("HEAD").files == {"first", "third"}
    assert str(found).startswith("3 files have changed since ")


def test_the_file_that_names_the_commit_is_no_change(clone: Path) -> None:
    (clone / "passed-at").write_text(git(clone, "rev-parse", "HEAD") + "\n")

    assert changes().files == frozenset()


def test_outside_of_a_clone_every_file_counts_as_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)

    assert changes("HEAD").files is None


def test_types_are_those_of_changed_files_and_of_what_imports_them_and_coverage_that_of_core() -> None:
    files = frozenset({"core/services/plans.py", "README.md", "tests/http/services/test_plans.py"})

    plan = plan_of(Changes(since="a commit", files=files), is_whole=False)

    assert plan.types is not None
    assert {"core/services/plans.py", "tests/http/services/test_plans.py"} <= set(plan.types)
    assert "entrypoints/http/services/plans.py" in plan.types
    assert "core/limits.py" not in plan.types
    assert plan.covered == ["core/services/plans.py"]


def test_a_change_of_much_asks_for_all_types_and_ci_asks_for_everything() -> None:
    nothing = Changes(since="a commit", files=frozenset())
    settings = Changes(since="a commit", files=frozenset({"pyproject.toml"}))

    assert plan_of(settings, is_whole=False).types is None
    assert plan_of(nothing, is_whole=False).covered == []
    assert plan_of(nothing, is_whole=True) == Plan(types=None, covered=None, left_out=(), is_whole=True)
