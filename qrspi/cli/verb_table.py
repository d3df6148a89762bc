"""Every verb, with its line in `qrspi --help`. `verbs/NAME.py` defines it, as `command`."""

from __future__ import annotations

from qrspi.core.named_tuple import NamedTuple


class VerbEntry(NamedTuple):
    help: str
    section: str


_DAILY = "Every day"
_RUNS = "Runs"
_GATES = "Decisions"
_PARTS = "Parts of a round"
_WORK = "Agents and code"
_HELP = "Help and checks"
SECTIONS = (_DAILY, _RUNS, _GATES, _WORK, _PARTS, _HELP)  # as help lists them

VERBS: dict[str, VerbEntry] = {
    "init": VerbEntry("Start a run.", _DAILY),
    "status": VerbEntry("Where runs stand, and what is next.", _DAILY),
    "explain": VerbEntry("Why a run stands where it stands, with the files read.", _RUNS),
    "next": VerbEntry("Do what can be done now, then say who is needed.", _DAILY),
    "watch": VerbEntry("The daemon: next for all runs, whenever files change.", _RUNS),
    "wait": VerbEntry("Block until a person or an agent is needed.", _RUNS),
    "ui": VerbEntry("A page of all runs in your browser, live.", _RUNS),
    "mcp": VerbEntry("The MCP server, for hosts such as Claude Code.", _WORK),
    "report": VerbEntry("The whole run as one file.", _RUNS),
    "inbox": VerbEntry("Everything that waits for a person.", _RUNS),
    "brief": VerbEntry("One page that puts somebody in the picture.", _RUNS),
    "show": VerbEntry("Findings of a round: scores, kept or dropped, and why.", _RUNS),
    "verify": VerbEntry("Prove that nothing was skipped; made for CI.", _RUNS),
    "stats": VerbEntry("Scores, rounds to clean, cost, and what came back.", _RUNS),
    "simulate": VerbEntry("Where a run's loops would have gone with other settings.", _RUNS),
    "log": VerbEntry("What the engine changed, line by line.", _RUNS),
    "import": VerbEntry("Take in a run that was made elsewhere.", _RUNS),
    "close": VerbEntry("Set a run aside, with the reason.", _RUNS),
    "reopen": VerbEntry("Take a closed run up again.", _RUNS),
    "route": VerbEntry("The steps of a run, and changing them.", _RUNS),
    "config": VerbEntry("Show, check and change config.md.", _HELP),
    "trust": VerbEntry("What a run would start or contact, and allowing it.", _HELP),
    "validate": VerbEntry("Check files of a run, each by its kind.", _HELP),
    "round": VerbEntry("Prepare, check, assemble, compare, commit.", _PARTS),
    "split": VerbEntry("A printed reply into files.", _PARTS),
    "ingest": VerbEntry("Findings from a chat or from one file with many.", _PARTS),
    "submit": VerbEntry("A text or a score that an agent gave to you.", _PARTS),
    "frontmatter": VerbEntry("Read or set one field of a file.", _PARTS),
    "demo": VerbEntry("A whole run with scripted agents, in a folder of its own.", _HELP),
    "doctor": VerbEntry("What is odd about this project and machine.", _HELP),
    "schema": VerbEntry("The JSON Schemas of files and of --json output.", _HELP),
    "install": VerbEntry("Hooks, MCP server and skill for a host.", _HELP),
    "uninstall": VerbEntry("Take them out again, byte for byte.", _HELP),
    "hook": VerbEntry("What Claude Code, Codex or Copilot ask before a tool.", _HELP),
    "completion": VerbEntry("Completion of words for your shell.", _HELP),
    "dispatch": VerbEntry("The agents a run waits for, and sending them.", _WORK),
    "worker": VerbEntry("Take dispatches of other machines from a broker.", _WORK),
    "prompt": VerbEntry("A waiting prompt, to paste or to pipe.", _DAILY),
    "roles": VerbEntry("The texts that agents are sent with.", _WORK),
    "spend": VerbEntry("What a run's agents cost.", _WORK),
    "wrap": VerbEntry("Put untrusted text between markers.", _PARTS),
    "unwrap": VerbEntry("Take it out again, byte for byte.", _PARTS),
    "approve": VerbEntry("Say yes to a step, and go on.", _DAILY),
    "comment": VerbEntry("Words about lines of a text, for whoever writes it next.", _GATES),
    "unapprove": VerbEntry("Take the yes to one step back.", _GATES),
    "reject": VerbEntry("Say no to a text, with the reason.", _GATES),
    "decide": VerbEntry("Apply, skip or loop back a finding that waits.", _GATES),
    "resolve": VerbEntry("Answer the menu that a run stands at.", _GATES),
    "rewind": VerbEntry("Go back to an earlier step.", _GATES),
    "replan": VerbEntry("Between two phases: change the plan, or go back.", _GATES),
    "checkpoint": VerbEntry("Implementers that ask for review while they work.", _WORK),
    "quality": VerbEntry("Task texts: judge them, list what is owed.", _WORK),
    "audit": VerbEntry("Is the plan ready to be carried out?", _WORK),
    "test": VerbEntry("Say that you ran the tests by hand, and how it went.", _WORK),
    "task": VerbEntry("Tasks: list, start, report, accept, skip, retry.", _WORK),
}
