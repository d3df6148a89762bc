"""Every command: its module, its line of help, its place in `qrspi --help`."""

from __future__ import annotations

from typing import NamedTuple


class VerbEntry(NamedTuple):
    module: str
    help: str
    section: str


_RUNS = "Runs"
_GATES = "Decisions"
_PARTS = "Parts of a round"
_WORK = "Agents and code"
_HELP = "Help and checks"
SECTIONS = (_RUNS, _GATES, _WORK, _PARTS, _HELP)  # as help lists them

VERBS: dict[str, VerbEntry] = {
    "init": VerbEntry("init", "Start a run.", _RUNS),
    "status": VerbEntry("status", "Where runs stand, and what is next.", _RUNS),
    "explain": VerbEntry(
        "explain", "Why a run stands where it stands, with the files read.", _RUNS
    ),
    "next": VerbEntry("next", "Do what can be done now, then say who is needed.", _RUNS),
    "watch": VerbEntry("watch", "The daemon: next for all runs, whenever files change.", _RUNS),
    "wait": VerbEntry("wait", "Block until a person or an agent is needed.", _RUNS),
    "inbox": VerbEntry("inbox", "Everything that waits for a person.", _RUNS),
    "brief": VerbEntry("brief", "One page that puts somebody in the picture.", _RUNS),
    "show": VerbEntry("show", "Findings of a round: scores, kept or dropped, and why.", _RUNS),
    "log": VerbEntry("log", "What the engine changed, line by line.", _RUNS),
    "close": VerbEntry("close", "Set a run aside, with the reason.", _RUNS),
    "reopen": VerbEntry("reopen", "Take a closed run up again.", _RUNS),
    "route": VerbEntry("route", "The steps of a run, and changing them.", _RUNS),
    "config": VerbEntry("config", "Show, check and change config.md.", _HELP),
    "validate": VerbEntry("validate", "Check files of a run, each by its kind.", _HELP),
    "round": VerbEntry("round", "Prepare, check, assemble, compare, commit.", _PARTS),
    "split": VerbEntry("split", "A printed reply into files.", _PARTS),
    "ingest": VerbEntry("ingest", "Findings from a chat or from one file with many.", _PARTS),
    "frontmatter": VerbEntry("frontmatter", "Read or set one field of a file.", _PARTS),
    "demo": VerbEntry("demo", "A whole run with scripted agents, in a folder of its own.", _HELP),
    "doctor": VerbEntry("doctor", "What is odd about this project and machine.", _HELP),
    "schema": VerbEntry("schema", "The JSON Schemas of files and of --json output.", _HELP),
    "completion": VerbEntry("completion", "Completion of words for your shell.", _HELP),
    "dispatch": VerbEntry("dispatch", "The agents a run waits for, and sending them.", _WORK),
    "prompt": VerbEntry("prompt", "A waiting prompt, to paste or to pipe.", _WORK),
    "roles": VerbEntry("roles", "The texts that agents are sent by.", _WORK),
    "spend": VerbEntry("spend", "What a run's agents cost.", _WORK),
    "wrap": VerbEntry("wrap", "Put untrusted text between markers.", _PARTS),
    "unwrap": VerbEntry("unwrap", "Take it out again, byte for byte.", _PARTS),
    "approve": VerbEntry("approve", "Say yes to a step, and go on.", _GATES),
    "unapprove": VerbEntry("unapprove", "Take the yes to one step back.", _GATES),
    "reject": VerbEntry("reject", "Say no to a text, with the reason.", _GATES),
    "decide": VerbEntry("decide", "Apply, skip or loop back a finding that waits.", _GATES),
    "resolve": VerbEntry("resolve", "Answer the menu that a run stands at.", _GATES),
    "rewind": VerbEntry("rewind", "Go back to an earlier step.", _GATES),
    "replan": VerbEntry("replan", "Between two phases: change the plan, or go back.", _GATES),
    "task": VerbEntry("task", "Tasks: list, start, report, accept, skip, baseline.", _WORK),
}
