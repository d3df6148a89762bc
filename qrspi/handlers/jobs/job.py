"""What a handler is given and what it gives back. Handlers carry out; they decide nothing."""

from __future__ import annotations

from qrspi.core.errors import refused
from qrspi.core.hints import TYPE_CHECKING
from qrspi.core.model import Next
from qrspi.core.named_tuple import NamedTuple
from qrspi.core.records.audit_trail import Answer
from qrspi.core.steps.facts import Facts
from qrspi.world.runs import project_search
from qrspi.world.runs.workspace import Workspace

if TYPE_CHECKING:
    from qrspi.core.derivation.derive import Survey
    from qrspi.core.rounds.loop import Loop


class Options(NamedTuple):
    actor: str = "cli"  # cli, watch, dispatch, web, mcp
    no_commit: bool = False
    present: bool = False
    anyway: bool = False
    lock_timeout: float = 10.0
    dry_run: bool = False  # the workspace only remembers what is written; git is left alone
    thorough: bool = False  # the resulting state also reports edits after approval
    ask: bool = False  # a person can answer; without one, defaults are taken and recorded
    asked: str = ""  # the `question` that `present` answers
    sends: bool = False  # this command sends agents itself and writes their prompts then

    @property
    def command(self) -> str:
        return {"cli": "qrspi next", "web": "qrspi ui"}.get(self.actor, f"qrspi {self.actor}")


def question(following: Next) -> str:
    return f"{following.kind} {following.step} {following.round}"


class Job(NamedTuple):
    workspace: Workspace
    facts: Facts
    loop: Loop | None
    next: Next
    options: Options = Options()

    @classmethod
    def of(cls, workspace: Workspace, surveyed: Survey, options: Options) -> Job:
        if surveyed.facts is None:
            raise refused(*surveyed.state.errors)
        facts, following = surveyed.facts, surveyed.state.next
        return cls(workspace, facts, surveyed.loop, following, options)

    @property
    def run(self) -> str:
        return self.facts.run

    @property
    def project(self) -> str:
        return project_search.around(self.workspace.path)

    @property
    def commits(self) -> bool:
        """Whether the engine commits what it does; otherwise a person does."""
        return not self.options.no_commit and self.facts.config.commit == "on"

    @property
    def is_answered(self) -> bool:
        return self.options.asked == question(self.next)

    @property
    def round_loop(self) -> Loop:
        assert self.loop is not None
        return self.loop


class Performed(NamedTuple):
    """What was done. The audit line, the `performed` list and the daemon's log say the same."""

    handler: str
    step: str
    round: int = 0
    files: tuple[str, ...] = ()  # run-relative
    notes: tuple[str, ...] = ()  # one-line diagnostics for people
    opened: str = ""  # of a round that was opened: what its manifest says, as a hash
    answers: tuple[Answer, ...] = ()  # that were taken in
    who: str = ""  # of a decision: the person who made it
