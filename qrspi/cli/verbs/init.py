"""`qrspi init`: start a run."""

from __future__ import annotations

import os
import re

import click

from qrspi.cli import arguments
from qrspi.cli.app import verb
from qrspi.cli.session import TEST_COMMAND, Session
from qrspi.core.config import problems
from qrspi.core.config.fields import CHOICES
from qrspi.core.config.reader import Config
from qrspi.core.derivation.derive import derive
from qrspi.core.errors import Misuse
from qrspi.core.filenames import RUNS, slug_of
from qrspi.core.model import Next, Problem, counted
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.text import run_slugs, shell_words
from qrspi.handlers.runs import consent, start_run
from qrspi.handlers.runs.start_run import Ground, Start
from qrspi.render import run_page
from qrspi.render.terminal import one_line
from qrspi.world.files.run_tree import DiskTree, inside_git
from qrspi.world.git import repository
from qrspi.world.machine import clock, hosts
from qrspi.world.runs import locate
from qrspi.world.runs.committed_tree import CommittedTree
from qrspi.world.runs.locate import Root, RunDir


@verb("init")
@click.argument("slug", required=False, metavar='"TEXT"|SLUG')
@click.option(
    "--pipeline",
    type=click.Choice(["quick", "full"]),
    help="Six steps, of which clean questions, research and plan need no person; or all eleven.",
)
@click.option("--quick", is_flag=True, help="The same as --pipeline quick.")
@click.option("--full", is_flag=True, help="The same as --pipeline full.")
@click.option("--ux", is_flag=True, help="The full pipeline, with a step for the user experience.")
@click.option("--second-reviewer/--no-second-reviewer", default=None, help="A second model too?")
@click.option("--visual-fidelity", is_flag=True, help="Hold screens against their wireframes.")
@click.option(
    "--review-depth",
    type=click.Choice(CHOICES["review_depth"]),
    help="Four reviewers for each task, or up to eight. Asked at implement.",
)
@click.option(
    "--review-mode",
    type=click.Choice(CHOICES["review_mode"]),
    help="Review a task once, or again until it is clean. Asked at implement.",
)
@click.option(
    "--test-command",
    metavar="CMD|none",
    help="What runs the tests. Asked at the latest when the plan is approved.",
)
@click.option("--name", metavar="SLUG", help="Name the run so, beside a TEXT of any words.")
@click.option("--date", metavar="D", help="Name the run by this day instead of today.")
@click.option("--adopt", metavar="DIR", help="Add a config.md to a folder that has artifacts.")
@click.option("--here", is_flag=True, help="Stay on the default branch; make none for the run.")
@click.option("--onto", metavar="BRANCH", help="Merge tasks into it, also if it is the default.")
@arguments.no_commit
@arguments.dry_run("what would be made")
def command(
    session: Session,
    slug: str | None,
    pipeline: str | None,
    quick: bool,
    full: bool,
    ux: bool,
    second_reviewer: bool | None,
    visual_fidelity: bool,
    review_depth: str | None,
    review_mode: str | None,
    test_command: str | None,
    name: str | None,
    date: str | None,
    adopt: str | None,
    here: bool,
    onto: str | None,
    no_commit: bool,
    dry_run: bool,
) -> None:
    """Start a run: its folder, its config.md and a first draft of goals.md.

    TEXT is what you want, in your words. It is kept as request.md, from which the goals are
    written, and the run is named after it, or as --name says. SLUG, two to four words such as
    user-auth, names a run whose goals you write yourself. On the default branch the run gets a
    branch of its own.
    """
    text = slug or ""
    if (slug is None and adopt is None) or (name is not None and not text.strip()):
        raise click.UsageError(
            'say what you want, in your words: init "TEXT"; or with a name: init "TEXT" --name SLUG'
        )
    called = _slug(text, name) if slug is not None else ""
    created = _date(date)
    if adopt is not None:
        place = _adopted(session, adopt, called)
    else:
        place = _fresh(session, f"{created}-{called}")
    found = None if no_commit else start_run.find_ground(_around(place), place.name, here=here)
    route = _route(session, _pipeline(pipeline, quick, full), ux)
    chosen = (("review_depth", review_depth), ("review_mode", review_mode))
    start = Start(
        created=created,
        route=route,
        second_reviewer=_second(session, second_reviewer),
        visual_fidelity=visual_fidelity,
        request=text.strip() if name or run_slugs.is_free_text(text) else "",
        reviews=tuple((field, value) for field, value in chosen if value),
        test_command=_tests(session, test_command),
        onto=_onto(place, onto),
    )
    ground = _ground(session, found, start, ask=not dry_run)
    start = start._replace(base=ground.base) if ground else start
    if place.root and ground and not ground.new:
        _tell_of_another_run(session, place.root, ground.here)
    begun = Begun(place, start, ground) if dry_run else _make(session, place, start, ground)
    session.answer(_document(begun), _lines(begun))


def _slug(word: str, name: str | None) -> str:
    if name is not None:
        if wrong := run_slugs.bad_name(word, name):
            raise Misuse(wrong)
        return name
    if run_slugs.is_free_text(word):
        made_slug = run_slugs.from_text(word)
        if made_slug is None:
            raise Misuse(run_slugs.nameless(word))
        return made_slug
    if problem := run_slugs.problem(word):
        raise Misuse(problem)
    return word


def _date(text: str | None) -> str:
    if text is None:
        return clock.today()
    from datetime import date

    try:
        good = date.fromisoformat(text).isoformat() == text
    except ValueError:
        good = False
    if not good:
        wrong = f"{text!r} is not a date; expected one such as 2026-05-17."
        raise click.BadParameter(wrong, param_hint="--date")
    return text


def _pipeline(word: str | None, quick: bool, full: bool) -> str | None:
    said = {word, "quick" if quick else None, "full" if full else None} - {None}
    if len(said) > 1:
        raise click.UsageError("quick and full are two pipelines: take one")
    return next(iter(said), None)


def _route(session: Session, pipeline: str | None, ux: bool) -> str:
    if ux and pipeline == "quick":
        raise click.UsageError("the quick pipeline has no ux step: leave out --ux or take full")
    if ux:
        return "full-ux"
    if pipeline:
        return pipeline
    ways = (
        f"quick: goals, questions, research, plan, implement, test; {_BY_ITSELF}",
        "full: all eleven steps, each approved by a person",
    )
    if not session.interactive:
        text = f"say which with --pipeline; {'; or '.join(ways)}"
        again = arguments.given_again("--pipeline", "quick")
        raise Misuse(Problem("usage", text, field="--pipeline", hint=again))
    return ("quick", "full")[session.choose("Which pipeline?", ways)]


_BY_ITSELF = "clean questions, research and plan are approved without you"


def _second(session: Session, wanted: bool | None) -> bool:
    """Asked only where there is somebody to ask and a second vendor to use."""
    if wanted is not None:
        return wanted
    availability = hosts.second_vendor(Config(), os.environ)
    if availability.available and session.interactive:
        ways = ("No second-model reviews", "Use a second model for second reviews")
        return session.choose("Second reviews?", ways) == 1
    why = "nobody was asked" if availability.available else availability.why
    session.note(f"No second model reviews ({why}): --second-reviewer turns it on.")
    return False


def _tests(session: Session, said: str | None) -> str:
    """The command, `none`, or '' where that is asked later."""
    if said is None:
        said = session.ask(TEST_COMMAND) if session.interactive else ""
    elif not said.strip():
        raise click.UsageError("--test-command needs a command, or none when there is none")
    if said.strip() == problems.COMMAND:
        raise Misuse(problems.placeholder("--test-command"))
    return said.strip()


class RunPlace(NamedTuple):
    """Where the run is or will be; `shown` is its path as people read it."""

    name: str
    path: str
    shown: str
    root: Root | None = None  # None for a folder that is adopted


def _fresh(session: Session, name: str) -> RunPlace:
    root = session.use_new_root()
    start_run.check_free(root, name)
    run = RunDir(name, f"{root.runs_dir}/{name}")
    return RunPlace(name, run.path, session.run_path(run), root)


def _adopted(session: Session, folder: str, slug: str) -> RunPlace:
    path = os.path.realpath(folder)
    runs_dir, _, name = path.rpartition("/")
    project = runs_dir.removesuffix(f"/{RUNS}")
    start_run.check_adoptable(CommittedTree(path))
    if slug not in ("", slug_of(name)):
        session.note(f"The run keeps the name of its folder, {name}.")
    if project == runs_dir:
        session.note(f"It lies in no {RUNS}: name it with --root {path}.")
        return RunPlace(name, path, path)
    return RunPlace(name, path, path.removeprefix(f"{project}/"))


def _around(place: RunPlace) -> str:
    return place.root.project if place.root else place.path


def _onto(place: RunPlace, branch: str | None) -> str:
    if not branch:
        return ""
    if repo := repository.find(_around(place)):
        start_run.check_there(repo, branch)
    return branch


def _ground(session: Session, found: Ground | None, start: Start, *, ask: bool) -> Ground | None:
    """The branch to begin on; a person at a terminal may stay on the default one. A person who has
    tasks merged into the current branch stays there."""
    if found and found.here == start.onto:
        return found._replace(new="")
    if found is None or not found.new or not (ask and session.interactive):
        return found
    ways = (f"Make branch {found.new} and go there", f"Stay on {found.here}")
    which = "" if found.base else ", the default branch"
    question = f"You are on {found.here}{which}. Where shall the run be?"
    return found._replace(new="") if session.choose(question, ways) else found


class Begun(NamedTuple):
    place: RunPlace
    start: Start
    ground: Ground | None = None  # None outside git, and with --no-commit
    next: Next | None = None  # None after a dry run
    commit: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        if self.place.root:
            return tuple(start_run.files(self.start, self.place.root.project))
        return start_run.BESIDE_ARTIFACTS


def _make(session: Session, place: RunPlace, start: Start, ground: Ground | None) -> Begun:
    if ground:
        start_run.switch(ground)
    if place.root:
        _tell_of_namesakes(session, place.root, place.name)
        start_run.create(place.root, place.name, start)
    else:
        start_run.adopt(place.path, start, session.lock_timeout)
    project = place.path.rpartition("/")[0].removesuffix(f"/{RUNS}") or "/"  # as a job names it
    session.note(*consent.allow_config(project, start.config()))
    tree = DiskTree(place.path)
    commit = start_run.commit_start(ground, tree) if ground else None
    return Begun(place, start, ground, _reachable(place, derive(tree, place.shown).next), commit)


def _reachable(place: RunPlace, following: Next) -> Next:
    """What is next, with the way to a run that no search would find."""
    if place.shown != place.path:
        return following
    way = shell_words.command("qrspi", "--root", place.path)
    return following._replace(
        summary=following.summary.replace("`qrspi ", f"`{way} "),
        command=re.sub("^qrspi", lambda _: way, following.command),
    )


def _tell_of_namesakes(session: Session, root: Root, name: str) -> None:
    slug = slug_of(name)
    same = [run for run in locate.readable_runs(root) if slug_of(run.name) == slug]
    if same:
        session.note(f"{same[0].name} has the same slug: name each run by its full name.")


def _tell_of_another_run(session: Session, root: Root, branch: str) -> None:
    """Whoever starts a run on the branch of another one mixes both."""
    names = (run.name for run in locate.readable_runs(root))
    other = next((name for name in names if branch in start_run.branch_names(name)), None)
    if other:
        session.note(
            f"{one_line(branch)} is the branch of {other}, and both runs share it. To keep them "
            "apart, switch to the default branch before `init`."
        )


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
        "branch": begun.ground.new or begun.ground.here if begun.ground else None,
        "new_branch": bool(begun.ground and begun.ground.new),
        "commit": begun.commit,
        "dry_run": begun.next is None,
        "next": run_page.next_document(begun.next) if begun.next else None,
    }


def _lines(begun: Begun) -> list[str]:
    start, place = begun.start, begun.place
    done, would = ("Made", "Would make") if place.root else ("Added to", "Would add to")
    kind = f"{start.pipeline} pipeline, {counted(len(start.steps), 'step')}"
    lines = [f"{done if begun.next else would} {one_line(place.shown)} ({kind}):"]
    lines += [f"  {name}" for name in begun.files]
    if begun.ground:
        lines += _on_branch(begun, begun.ground)
    elif not inside_git(_around(place)):
        lines.append("  in no git repository: nothing is committed, and tasks need one")
    if start.pipeline == "quick":
        lines += ["", f"{_BY_ITSELF.capitalize()}; `cascade: off` in config.md asks you each time."]
    return [*lines, "", *run_page.next_lines(begun.next)] if begun.next else lines


def _on_branch(begun: Begun, ground: Ground) -> list[str]:
    made = f", a new branch from {one_line(ground.here)} (--here stays)" if ground.new else ""
    commit = f"committed as {begun.commit[:12]}" if begun.commit else "nothing new to commit"
    if begun.next is None:
        commit = "to be committed"
    lines = [f"  {commit} on {one_line(ground.new or ground.here)}{made}"]
    if ground.base:
        base = one_line(ground.base)
        why = "no branch is main, master or trunk"
        lines += [f"  reviewers compare with {base} (base_branch in config.md): {why}"]
    return lines
