"""How the criteria and steps of a task are recognised, and which of their words name something."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ITEM = re.compile(r"( *)(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)")
_STEP = re.compile(r" {0,3}([0-9]{1,3})[.)][ \t]+(.*)")


def criteria(text: str) -> list[str]:
    """The items of the list, each on one line; without a list every line is one."""
    lines = [line.expandtabs(4) for line in text.split("\n") if line.strip()]
    marked = [match for line in lines if (match := _ITEM.fullmatch(line))]
    if not marked:
        return [line.strip() for line in lines]
    outermost = min(len(match[1]) for match in marked)
    items: list[list[str]] = []
    for line in lines:
        match = _ITEM.fullmatch(line)
        if match and len(match[1]) <= outermost + 1:
            items.append([match[2].strip()])
        elif items:
            items[-1].append(line.strip())
    return [text for parts in items if (text := " ".join(parts).strip())]


def steps(text: str) -> list[str]:
    """The numbered steps, each on one line with what is written below it."""
    items: list[list[str]] = []
    for line in text.expandtabs(4).split("\n"):
        match = _STEP.fullmatch(line)
        if match:
            items.append([match[2].strip()])
        elif items and line.strip():
            items[-1].append(line.strip())
    return [" ".join(parts).strip() for parts in items]


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


_STOP = frozenset(
    """about above after again against all also always and any anything are been before being
    below between both but can could does doing down each ever every everything for from further
    had has have having here how into its just more most must never nor not now off once only
    other our out over own same shall should some something stuff such than that the their them
    then there these they thing things this those through too under until upon very was were
    what when where which while who whom why will with without would you your""".split()
)


def meaningful(text: str) -> set[str]:
    """The words that two texts about one subject would share, without their endings."""
    return {_stem(word) for word in words(text) if len(word) > 2 and word not in _STOP}


def _stem(word: str) -> str:
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) > 2:
            return word.removesuffix(end)
    return word


_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://\S", re.IGNORECASE)
_QUOTED = re.compile(r"`[^`\n]+`")
_TOKEN = re.compile(
    r"""\b[A-Za-z_]\w*\(\)        # call()
    |\b[a-z0-9]+_[a-z0-9_]+\b     # snake_case
    |\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b
    |\b[a-z]+[A-Z]\w*\b           # camelCase
    |\b[A-Z][a-z0-9]+[A-Z]\w*\b   # CamelCase
    |(?<!\w)--?[a-z][\w-]+        # --option
    |\b[A-Z]{3,6}[ ]/\S*          # GET /login
    """,
    re.VERBOSE,
)
_FILE = re.compile(r"(?<![\w.~-])(?!e\.g|i\.e)[\w.~-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9}\b(?!\()")
_FOLDERS = re.compile(
    r"(?<![\w/.@-])(?!(?:and/or|yes/no|true/false|n/a|w/o)\b)"
    r"(?:(?:\.{0,2}/)?[\w.@-]++(?:/[\w.@*-]++)+/?|[\w.-]+/(?!\w))",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"(?<![\d.,])\d(?:[\d.,]*\d)?[ \t]?(?:%|°|[kKMGT]i?[bB]\b|[munµ]?s\b|px\b|em\b|pt\b|fps\b"
    r"|[a-zA-Z]{2,}s\b|second\b|minute\b|hour\b|day\b|week\b|byte\b|line\b|time\b|item\b|percent\b|character\b)",
)
_COMMAND = re.compile(
    r"\b(?:npm|npx|yarn|pnpm|make|cmake|pytest|python3?|pip|tox|nox|git|curl|wget|cargo|go|docker|"
    r"kubectl|helm|terraform|node|deno|bun|ruby|rake|bundle|mvn|gradle|java|dotnet|bash|sh|psql|"
    r"mysql|ssh|qrspi)[ \t]+[\w./-]+"
)
_OBSERVED = frozenset(
    """accept accepted accepts allow allows answers appear appears appended block blocks closes
    completes contain contains created creates delete deleted deletes denied denies deny detects
    differ differs disable disables disappears display displayed displays emit emits enable
    enables ends equal equals exist exists exit exits expire expires fail failed fails finish
    finishes fire fires ignores include includes list listed lists load loads log logged logs
    match matches names navigates open opens output outputs pass passed passes play plays
    populates post posts print printed prints produce produces raise raises read reads receive
    receives record recorded records redirect redirects refresh refreshes refuse refused refuses
    reject rejected rejects remain remains remove removed removes render renders replies reply
    report reports resolves respond responds restart restarts return returned returns run runs
    save saved saves send sends sent show shown shows sorted start starts stay stays stop stops
    store stored stores succeed succeeds survive survives throw throws times trigger triggers
    unchanged update updated updates validates visible warn warned warns write writes
    written""".split()
)
_VERBS = frozenset(
    """adapt add adjust align allow append apply assert attach audit backfill benchmark bind
    block build bump bundle cache call change check clean clone collect commit compare compile
    compute configure confirm connect convert copy cover create cut declare define delete deploy
    derive describe design detect disable document download draft drop edit embed emit enable
    enforce ensure escape execute explain export expose extend extract fetch fill filter find
    fix flag format generate grant group guard handle hash hide hook implement import include
    index initialise initialize inject insert inspect install instrument integrate introduce
    invoke isolate join keep land limit link lint list load lock log make map mark measure merge
    migrate mock modify mount move name normalise normalize note notify open order parse pass
    patch persist pin point port prepare print profile prove publish pull push put query raise
    read rebuild reconcile record redirect refactor refresh register reject release reload
    remove rename render replace report reproduce request resolve restart restore restrict
    return reuse revert review rewrite roll rotate route run save scan schedule seed select send
    serialise serialize serve set ship show sign sort split stage start state stop store strip
    stub submit switch sync tag take test throw time trace track trigger trim try tune turn
    unify unit update upgrade upload use validate verify version wait walk warn watch wire wrap
    write""".split()
)


def is_checkable(criterion: str) -> bool:
    """Whether it names something observable: an artifact, a number with its unit, a command, an
    event."""
    if names_artifact(criterion) or _UNIT.search(criterion) or _COMMAND.search(criterion):
        return True
    return not _OBSERVED.isdisjoint(words(criterion))


def names_artifact(text: str) -> bool:
    """Whether it names a file, a piece of code or an address."""
    return any(pattern.search(text) for pattern in (_URL, _QUOTED, _TOKEN, _FILE, _FOLDERS))


def has_verb(step: str) -> bool:
    return any(word in _VERBS or _stem(word) in _VERBS for word in words(step))


def has_target(step: str) -> bool:
    """Whether the verb has an object."""
    return names_artifact(step) or any(
        word not in _VERBS and word not in _STOP and len(word) > 2 for word in words(step)
    )


_METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_AROUND = "`'\"()[]{}<>,;:!?*|&="


def paths(text: str) -> Iterator[str]:
    """The words that are paths. After the method of a request comes an address, not a path."""
    before = ""
    for raw in text.split():
        word = raw.strip(_AROUND).rstrip(".") if not raw.strip(_AROUND).endswith("..") else raw
        if before.strip(_AROUND) not in _METHODS and _is_path(word):
            yield word
        before = raw


def _is_path(word: str) -> bool:
    return "://" not in word and (is_absolute(word) or "/" in word or word == "..")


_ROOTS = frozenset(
    """bin boot dev etc home lib lib64 mnt opt proc root sbin srv sys tmp usr var Applications
    Library Users Volumes private""".split()
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\\w")
_HARMLESS = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))


def is_absolute(path: str) -> bool:
    if path == "~" or path.startswith("~/") or _DRIVE.match(path):
        return True
    return path.startswith("/") and path.split("/")[1] in _ROOTS and path not in _HARMLESS


def inside(path: str) -> str | None:
    """The path in its shortest form, '' for the project itself; None when it leads out."""
    if path.startswith(("/", "~")) or _DRIVE.match(path) or "\0" in path:
        return None
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and not kept:
            return None
        if part == "..":
            kept.pop()
        elif part not in ("", "."):
            kept.append(part)
    return "/".join(kept)
