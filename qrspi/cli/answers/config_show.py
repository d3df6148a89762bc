"""What `config show` says: every field with its value."""

from __future__ import annotations

from qrspi.cli.session import Session
from qrspi.core.config import problems as config_problems
from qrspi.core.config import reader as configs
from qrspi.core.tree import CONFIG_LIMIT
from qrspi.render import config_page, problems
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import RunDir


def read(run: RunDir) -> configs.Config:
    tree = CommittedTree(run.path)
    config = configs.read(tree.read("config.md", CONFIG_LIMIT))
    named = (config_problems.for_run(problem, tree) for problem in config.problems)
    return config._replace(problems=tuple(named))


def show(session: Session, run: str | None = None) -> None:
    found = session.run(run)
    config = read(found)
    document = {
        "schema": "qrspi/config-show/v1",
        "run": found.name,
        "fields": config_page.fields(config),
        "problems": problems.violations(config.problems),
        "warnings": problems.warnings(config.warnings),
    }
    session.answer(document, config_page.fields_page(config, session.width))
