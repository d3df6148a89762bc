"""The programs that write files, and which of their words name those files. A program that is not
in the table counts as one that only reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from qrspi.core.hosts.shell_calls import Call, Scope, printed_by, said
from qrspi.core.hosts.shell_grammar import UNKNOWN
from qrspi.core.hosts.written_files import (
    SOMEWHERE,
    Committed,
    Copied,
    Gone,
    Text,
    Unseen,
    Write,
    absolute,
)


def operands(words: Sequence[str], with_value: Sequence[str] = ()) -> list[str]:
    """The words that are neither options nor values of options."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*found, *rest]
        if word in with_value:
            next(rest, None)
        elif not word.startswith("-") or word == "-":
            found.append(word)
    return found


def _value(words: Sequence[str], short: str, long: str) -> str:
    for at, word in enumerate(words):
        if word in (short, long):
            return words[at + 1] if at + 1 < len(words) else ""
        if word.startswith(f"{long}="):
            return word.partition("=")[2]
    return ""


def _tee(call: Call) -> Iterator[Write]:
    by = printed_by(call)
    if isinstance(by, Text) and {"-a", "--append"} & set(call.words):
        by = by._replace(append=True)
    return call.on(operands(call.words), by)


def _sed(call: Call) -> Iterator[Write]:
    flags = [word for word in call.words if word.startswith("-")]
    in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", flag) for flag in flags)
    scripted = any(re.match(r"-[a-zA-Z]*[ef]$|--expression|--file", flag) for flag in flags)
    files = operands(call.words, ("-e", "-f", "-ne", "-Ee", "--expression", "--file"))
    return call.on(files if scripted else files[1:], Unseen(call.said)) if in_place else iter(())


def _perl(call: Call) -> Iterator[Write]:
    """`perl -pi -e CODE FILE…`; without -i, the code itself may write."""
    flags = [word for word in call.words if word.startswith("-")]
    if any(re.match(r"-[a-zA-Z0-9]*i", flag) for flag in flags):
        codes = tuple(flag for flag in flags if re.match(r"-[a-zA-Z0-9]*[eE]$", flag))
        yield from call.on(operands(call.words, codes), Unseen(call.said))
    yield from _code(call)


def _awk(call: Call) -> Iterator[Write]:
    at = [*call.words, ""].index("inplace") if "inplace" in call.words else -1
    files = operands(call.words[at + 1 :], ("-v", "-F", "-f"))[1:] if at >= 0 else []
    return call.on(files, Unseen(call.said))


def _copy(call: Call) -> Iterator[Write]:
    if call.name == "install" and {"-d", "--directory"} & set(call.words):
        return
    folder = _value(call.words, "-t", "--target-directory")
    named = operands(call.words, ("-t", "--target-directory", "-m", "-o", "-g", "-S", "-e"))
    sources, to = (named, folder) if folder else (named[:-1], named[-1] if named else "")
    for source in sources:
        if source in _STDIN:
            yield from call.on([to], call.piped or Unseen(call.said))
            continue
        for path in call.scope.paths(source):
            if call.name == "mv":
                yield Write(path, Gone())
            yield from call.on([to], Copied(path))


_STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def _link(call: Call) -> Iterator[Write]:
    named = operands(call.words, ("-t", "-S"))
    return call.on(named[-1:] if len(named) > 1 else [], Unseen(call.said))


def _remove(call: Call) -> Iterator[Write]:
    return call.on(operands(call.words), Gone())


def _named_files(call: Call) -> Iterator[Write]:
    values = ("-s", "--size", "-r", "--reference", "-d", "--date", "-t")
    return call.on(operands(call.words, values), Unseen(call.said))


def _dd(call: Call) -> Iterator[Write]:
    named = [word[3:] for word in call.words if word.startswith("of=")]
    return call.on(named, call.piped or Unseen(call.said))


def _output_option(call: Call) -> Iterator[Write]:
    named = _value(call.words, "-O" if call.name == "wget" else "-o", "--output")
    return call.on([named] if named else [], Unseen(call.said))


def _git(call: Call) -> Iterator[Write]:
    words = list(call.words)
    while words and words[0].startswith("-"):
        call.scope.work.spend(len(words))
        if words[0] == "-C" and len(words) > 1:
            inner = Scope(call.scope.cwd, {}, call.scope.top, call.scope.work)
            inner.enter(words[1:2])
            call = call._replace(scope=inner)
        del words[: 2 if words[0] in ("-C", "-c") else 1]
    match words[:1]:
        case ["checkout"]:
            yield from _checkout(call, words[1:])
        case ["restore"]:
            staged_only = "--staged" in words and "--worktree" not in words
            named = [] if staged_only else operands(words[1:], ("-s", "--source"))
            yield from call.on(named, Committed(_value(words, "-s", "--source")))
        case ["rm"] if "--cached" not in words:
            yield from call.on(operands(words[1:]), Gone())
        case ["reset"] if "--hard" in words and not _is_task(call):
            yield Write(f"{call.scope.top}/docs/qrspi", Gone())
        case ["clean"] if _takes_ignored(words) and not _is_task(call):
            runs = f"{call.scope.top}/docs/qrspi"
            for write in call.on(operands(words[1:], ("-e", "--exclude")) or ["."], Gone()):
                is_around = f"{runs}/".startswith(f"{write.path}/")
                yield write._replace(path=runs) if is_around else write
        case ["mv"]:
            yield from _copy(call._replace(name="mv", words=tuple(words[1:])))
        case _:
            yield from _writes_of_diff(said(call.command), call.scope.top)


def _is_task(call: Call) -> bool:
    """In the work tree of a task, the runs are copies."""
    return "/.worktrees/" in f"{call.scope.cwd}/"


def _takes_ignored(words: Sequence[str]) -> bool:
    """The engine's own files are ignored by git: `git clean -fdx` removes them."""
    letters = "".join(word for word in words if re.fullmatch("-[a-zA-Z]+", word))
    spared = "n" in letters or "--dry-run" in words or "qrspi" in _value(words, "-e", "--exclude")
    return not spared and bool({"x", "X"} & set(letters))


def _checkout(call: Call, words: Sequence[str]) -> Iterator[Write]:
    """`git checkout [COMMIT] [--] FILE…`. A branch is also a name, but no file of a run."""
    if {"-b", "-B", "--orphan"} & set(words):
        return
    before = list(words[: list(words).index("--")]) if "--" in words else []
    commits = operands(before)
    named = operands(words)[len(commits) :]
    for at, word in enumerate(named):
        earlier = commits[-1:] or named[:1] if at or commits else []
        yield from call.on([word], Committed(earlier[0] if earlier else ""))


def _code(call: Call) -> Iterator[Write]:
    """A program that is written in the command itself."""
    for at, word in enumerate(call.words):
        if word in ("-c", "-e", "-E", "--eval", "-p"):
            text = "".join(call.words[at + 1 : at + 2])
            yield from call.on(_of_program(text, call, call.words[at + 2 :]), _of(call))
            return
    here = [one.target for one in call.command.redirects if one.operator == "<<"]
    for text in here if operands(call.words) in ([], ["-"]) else []:
        yield from call.on(_of_program(text, call, ()), _of(call))


# What writes a file in other languages than Python, and their texts in quotes
_WRITES = re.compile(
    r"write|append(?:File)?\b|unlink|rename|truncate|copyFile|\brm(?:Sync)?\(|['\"][wa]\+?['\"]"
    r"|['\"]>|>>|FileUtils|\.puts\b"
)
# A text without an end is read to the end of its line, so that no part of it is read again.
_LITERAL = re.compile(r"""(['"`])((?:(?!\1)[^\\\n]|\\.)+)(\1?)""")


def _of_program(code: str, call: Call, arguments: Sequence[str]) -> tuple[str, ...]:
    """The paths that it would write. Python is parsed, so that a program may read a run and write
    elsewhere; in other languages every text counts as soon as anything is written."""
    if not call.name.startswith("python"):
        named = [match[2] for match in _LITERAL.finditer(code) if match[3]]
        return (*named, *arguments) if _WRITES.search(code) else ()
    # Imported here: it takes 5 ms, and few commands contain a program.
    import ast

    from qrspi.core.hosts import python_code

    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    paths = python_code.written(tree, call.scope.work)
    return (*paths, *(arguments if python_code.ARGUMENTS in paths else ()))


def _of(call: Call) -> Unseen:
    return Unseen(said(call.command))


def _patch(call: Call) -> Iterator[Write]:
    text = said(call.command)
    yield from _writes_of_patch(text, call.scope.cwd)
    yield from _writes_of_diff(text, call.scope.cwd)


_PATCH_HEAD = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): (.+)")


def _writes_of_patch(text: str, cwd: str) -> Iterator[Write]:
    """`*** Begin Patch`, then a head for each file, and its lines with `+`, `-` or a blank."""
    kind, path, lines = "", "", list[str]()
    for line in [*text.splitlines(), "*** End Patch"]:
        head = _PATCH_HEAD.fullmatch(line.rstrip())
        if head and head[1] == "Move to":
            yield Write(absolute(head[2], cwd), Unseen("\n".join(lines)))
        elif head or line.startswith("*** End Patch"):
            yield from _patched(kind, path, lines, cwd)
            kind, path, lines = (head[1], head[2], []) if head else ("", "", [])
        else:
            lines.append(line)


def _patched(kind: str, path: str, lines: list[str], cwd: str) -> Iterator[Write]:
    added = [line[1:] for line in lines if line.startswith("+")]
    if kind == "Add File":
        yield Write(absolute(path, cwd), Text("".join(f"{line}\n" for line in added)))
    elif kind == "Update File":
        yield Write(absolute(path, cwd), Unseen("\n".join(added)))
    elif kind == "Delete File":
        yield Write(absolute(path, cwd), Gone())


def _writes_of_diff(text: str, cwd: str) -> Iterator[Write]:
    """`+++ b/path` and the lines that it adds."""
    path, added = "", list[str]()
    for line in [*text.splitlines(), "+++ "]:
        if line.startswith("+++ "):
            if path:
                yield Write(absolute(path, cwd), Unseen("\n".join(added)))
            path, added = line[4:].partition("\t")[0].strip().removeprefix("b/"), []
        elif line.startswith("+"):
            added.append(line[1:])


def _find(call: Call) -> Iterator[Write]:
    """`find DIR… -name PATTERN -delete`, or with a command that it starts for each."""
    words = list(call.words)
    roots = [word for word in takewhile(lambda word: not word.startswith("-"), words) if word]
    pattern = _value(words, "-name", "-iname") or "*"
    found = [f"{root}/**/{pattern}" for root in roots]
    if "-delete" in words:
        yield from call.on(found, Gone())
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok"):
            inner = [part for part in words[at + 1 :] if part not in (";", "+")]
            call.scope.work.spend(len(inner))
            named = [two for one in inner for two in (found if one == "{}" else [one])]
            if named and named[0] in WRITERS:
                command = call.command._replace(words=tuple(named))
                started = Call(named[0], command.words[1:], command, call.scope, None)
                yield from WRITERS[named[0]](started)
            elif named and named[0] in ("sh", "bash"):
                yield from call.on(found, Unseen(call.said))


def _xargs(call: Call) -> Iterator[Write]:
    """`… | xargs sed -i …`: the files come from its input."""
    words = _started_by_xargs(call.words)
    if words and words[0].rpartition("/")[2] in WRITERS:
        name, command = words[0].rpartition("/")[2], call.command._replace(words=tuple(words))
        inner = call._replace(name=name, words=(*words[1:], UNKNOWN), command=command, piped=None)
        yield from WRITERS[name](inner)
    elif words[:1] in (["sh"], ["bash"]):
        yield Write(SOMEWHERE, Unseen(call.said))


def _started_by_xargs(words: Sequence[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in ("-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E") else 1]
    return rest


def _cd(call: Call) -> Iterator[Write]:
    call.scope.enter(call.words)
    return iter(())


WRITERS: dict[str, Callable[[Call], Iterator[Write]]] = {
    "tee": _tee,
    "ln": _link,
    "dd": _dd,
    "git": _git,
    "find": _find,
    "xargs": _xargs,
    "perl": _perl,
    **dict.fromkeys(("cd", "pushd"), _cd),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk"), _awk),
    **dict.fromkeys(("cp", "mv", "install", "rsync"), _copy),
    **dict.fromkeys(("rm", "unlink", "shred"), _remove),
    **dict.fromkeys(("truncate", "touch"), _named_files),
    **dict.fromkeys(("sort", "curl", "wget"), _output_option),
    **dict.fromkeys(("patch", "apply_patch", "applypatch"), _patch),
    **dict.fromkeys(("python", "python3", "python2", "node", "ruby", "deno", "bun"), _code),
}
