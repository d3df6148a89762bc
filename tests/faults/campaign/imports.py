"""Runs of other tools that are taken in: in their place, or copied from elsewhere."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

from tests import project
from tests.faults.campaign.cases import Maker, Scene
from tests.test_imports import RUN, STORIES, WRITTEN, contents


def foreign(story: Path, copied: bool, folder: Path) -> Scene:
    """A run as another tool left it, and the answers that only a person can give."""
    home = project.Project(folder / "shop")
    run = home.root / "docs" / "qrspi" / RUN
    source = folder / "theirs" / RUN if copied else run
    project.init(home.root)
    shutil.rmtree(home.run)
    shutil.copytree(story / "run", source)
    (home.root / "app.py").write_text("print()\n")
    home.git("add", "app.py")
    home.git("commit", "-q", "-m", "start")
    before = contents(source)

    def whole() -> None:
        for path, data in before.items():
            assert path in WRITTEN or (source / path).read_bytes() == data, path

    answers = json.loads((story / "story.json").read_text("utf-8"))["set"]
    given = (f"--set={key}={value}" for key, value in answers.items())
    return Scene(home, run, ("import", str(source), "--yes", *given), whole)


def makers() -> dict[str, Maker]:
    return {
        f"{story.name}-{where}": partial(foreign, story, where == "copied")
        for story in sorted(STORIES.iterdir())
        for where in ("in-place", "copied")
        if story.is_dir()
    }
