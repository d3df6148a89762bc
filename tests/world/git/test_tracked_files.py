"""One listing answers as git does for each path."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.world.git import repository, tracked_files
from qrspi.world.git.tracked_files import Listing
from tests.project import init

FILES = ("a/x.md", "a/deep/y.md", "a-b/z.md", "a/ünï.md", "c.md", "*.md")


@pytest.mark.parametrize("folder", ["", "runs"])
def test_a_listing_answers_as_git_does(tmp_path: Path, folder: str) -> None:
    project = init(tmp_path)
    for name in FILES:
        file = tmp_path / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    project.git("add", "--all")
    repo = repository.find(str(tmp_path / folder))
    assert repo
    listing = Listing(repo)
    for paths in (["a"], ["a/deep", "a"], ["c.md", "none.md"], ["*.md"], ["a/ünï.md"], [*FILES]):
        names = [repo.from_root(path) for path in paths]
        assert listing.find(names) == tracked_files.tracked(repo, paths), paths
    assert listing.find([]) is listing.find([repo.from_root(".")]) is None


def test_a_listing_ends_with_the_index_it_was_made_from(tmp_path: Path) -> None:
    project = init(tmp_path)
    (tmp_path / "a.md").touch()
    repo = repository.find(str(tmp_path))
    assert repo
    tracked_files.list_once(repo)
    assert tracked_files.tracked(repo, ["a.md"]) == ()
    project.git("add", "--all")
    assert [one.name for one in tracked_files.tracked(repo, ["a.md"])] == ["a.md"]
