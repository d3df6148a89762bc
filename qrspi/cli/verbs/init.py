"""`qrspi init`: start a run."""

from __future__ import annotations

import os
from typing import NamedTuple

import click

from qrspi.cli.app import Verb
from qrspi.cli.session import Session
from qrspi.core.config.reader import Config
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Misuse
from qrspi.core.filenames import slug_of
from qrspi.core.model import Next
from qrspi.core.text import run_slugs as slugs
from qrspi.core.tree import Fault
from qrspi.handlers.runs import start_run as begin
from qrspi.handlers.runs.start_run import Start
from qrspi.render import run_page as states
from qrspi.render.safe_text import one_line
from qrspi.world.files.run_tree import DiskTree
from qrspi.world.machine import clock, hosts
from qrspi.world.runs import locate
from qrspi.world.runs.locate import Root, RunDir


@click.command("init", cls=Verb)
@click.argument("slug", required=False, metavar='SLUG|"TEXT"')
@click.option("--pipeline", type=click.Choice(["quick", "full"]), help="Six steps, or all eleven.")
@click.option("--ux", is_flag=True, help="The full pipeline, with a step for the user experience.")
@click.option("--second-reviewer/--no-second-reviewer", default=None, help="A second model too?")
@click.option("--visual-fidelity", is_flag=True, help="Hold screens against their wireframes.")
@click.option("--date", metavar="D", help="Name the run by this day instead of today.")
@click.option("--adopt", metavar="DIR", help="Add a config.md to a folder that has artifacts.")
@click.option("--dry-run", is_flag=True, help="Say what would be made; change nothing.")
@click.pass_obj
def command(
    session: Session,
    slug: str | None,
    pipeline: str | None,
    ux: bool,
    second_reviewer: bool | None,
    visual_fidelity: bool,
    date: str | None,
    adopt: str | None,
    dry_run: bool,
) -> None:
    """Start a run: its folder, its config.md and a first draft of goals.md.

    SLUG is two to four words such as user-auth; from a TEXT of several words it is made.
    """
    if slug is None and adopt is None:
        raise click.UsageError('a SLUG is needed, or what you want in a few words: init "TEXT"')
    name = _slug(slug) if slug is not None else ""
    created = _date(date)
    route = _route(session, pipeline, ux)
    if adopt is not None:
        place = _adopted(session, adopt, name)
    else:
        place = _fresh(session, f"{created}-{name}")
    start = Start(created, route, _second(session, second_reviewer), visual_fidelity)
    begun = Begun(place, start) if dry_run else _make(session, place, start)
    session.answer(_document(begun), _lines(begun))


def _slug(word: str) -> str:
    if slugs.is_free_text(word):
        made = slugs.from_text(word)
        if made is None:
            raise Misuse(slugs.nameless(word))
        return made
    if problem := slugs.problem(word):
        raise Misuse(problem)
    return word


def _date(said: str | None) -> str:
    if said is None:
        return clock.today()
    from datetime import date

    try:
        good = date.fromisoformat(said).isoformat() == said
    except ValueError:
        good = False
    if not good:
        raise click.BadParameter(f"{said!r} is no day; expected one such as 2026-05-17.")
    return said


def _route(session: Session, pipeline: str | None, ux: bool) -> str:
    if ux and pipeline == "quick":
        raise click.UsageError("the quick pipeline has no ux step: leave out --ux or take full")
    if ux:
        return "full-ux"
    return pipeline or _asked_pipeline(session)


def _asked_pipeline(session: Session) -> str:
    if not session.interactive:
        raise click.UsageError("the pipeline is not said: add --pipeline quick or --pipeline full")
    from qrspi.cli.ask_person import choose

    ways = ("quick: goals, questions, research, plan, implement, test", "full: all eleven steps")
    return ("quick", "full")[choose("Which pipeline?", ways)]


def _second(session: Session, said: bool | None) -> bool:
    """Asked only where there is somebody to ask and a second vendor to use."""
    if said is not None:
        return said
    found = hosts.second_vendor(Config(), os.environ)
    if found.available and session.interactive:
        from qrspi.cli.ask_person import choose

        ways = ("No second-model reviews", "Use a second model for second reviews")
        return choose("Second reviews?", ways) == 1
    why = "nobody was asked" if found.available else found.why
    session.note(f"No second model reviews ({why}): --second-reviewer turns it on.")
    return False


class Place(NamedTuple):
    """Where the run is, or will be, and how people are told."""

    name: str
    path: str
    shown: str
    root: Root | None = None  # None for a folder that is adopted


def _fresh(session: Session, name: str) -> Place:
    root = session.use_new_root()
    begin.check_free(root, name)
    run = RunDir(name, f"{root.runs_dir}/{name}")
    return Place(name, run.path, session.run_path(run), root)


def _adopted(session: Session, folder: str, slug: str) -> Place:
    path = os.path.realpath(folder)
    runs_dir, _, name = path.rpartition("/")
    project = runs_dir.removesuffix(f"/{locate.RUNS}")
    begin.check_adoptable(DiskTree(path))
    if slug not in ("", slug_of(name)):
        session.note(f"The run keeps the name of its folder, {one_line(name)}.")
    if project == runs_dir:
        session.note(f"It lies in no {locate.RUNS}: name it with --root {one_line(path)}.")
        return Place(name, path, path)
    return Place(name, path, path.removeprefix(f"{project}/"))


class Begun(NamedTuple):
    """What was made, or would be."""

    place: Place
    start: Start
    next: Next | None = None  # None after a dry run

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(begin.files(self.start)) if self.place.root else (begin.CONFIG,)


def _make(session: Session, place: Place, start: Start) -> Begun:
    if place.root:
        _tell_of_namesakes(session, place.root, place.name)
        begin.create(place.root, place.name, start)
    else:
        begin.adopt(place.path, start, session.lock_timeout)
    return Begun(place, start, derive(DiskTree(place.path), place.shown).next)


def _tell_of_namesakes(session: Session, root: Root, name: str) -> None:
    runs = locate.list_runs(root)
    slug = slug_of(name)
    same = [] if isinstance(runs, Fault) else [run for run in runs if slug_of(run.name) == slug]
    if same:
        session.note(f"{same[0].name} has the same slug: name each run by its full name.")


def _document(begun: Begun) -> dict[str, object]:
    return {
        "schema": "qrspi/init/v1",
        "run": begun.place.name,
        "path": begun.place.shown,
        "pipeline": begun.start.pipeline,
        "route": list(begun.start.steps),
        "second_reviewer": begun.start.second_reviewer,
        "files": list(begun.files),
        "adopted": begun.place.root is None,
        "dry_run": begun.next is None,
        "next": states.next_document(begun.next) if begun.next else None,
    }


def _lines(begun: Begun) -> list[str]:
    start, place = begun.start, begun.place
    done, would = ("Made", "Would make") if place.root else ("Added to", "Would add to")
    kind = f"{start.pipeline} pipeline, {len(start.steps)} steps"
    lines = [f"{done if begun.next else would} {one_line(place.shown)} ({kind}):"]
    lines += [f"  {name}" for name in begun.files]
    return [*lines, "", *states.next_lines(begun.next)] if begun.next else lines
