"""A shell command as a list of simple commands: enough of the grammar to see what is written.

Nothing is run or expanded here: a variable stays in its word as `VARIABLE name END`, and the output
of a command in `$(…)` is `UNKNOWN`, characters of the private use area that no command contains."""

from __future__ import annotations

from collections.abc import Iterator

from qrspi.core.hosts.work_limit import Work
from qrspi.core.named_tuple import NamedTuple

VARIABLE, END, UNKNOWN = "\ue000", "\ue001", "\ue002"
_OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "\n", "(", ")")
_REDIRECTIONS = ("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<<", "<>", "<&", ">", "<")
_BREAKS = " \t\n;|&()<>"


class Redirect(NamedTuple):
    operator: str
    target: str  # a word; behind `<<` the whole here-document


class Command(NamedTuple):
    words: tuple[str, ...]
    redirects: tuple[Redirect, ...]
    joint: str  # the operator before it; '(' and ')' stand alone, as commands without words


def commands(text: str, work: Work) -> tuple[Command, ...]:
    """In the order of the text. Commands in `$(…)` come before the command that uses them."""
    return tuple(_Scanner(text, work).commands())


class _Scanner:
    def __init__(self, text: str, work: Work) -> None:
        self.work = work
        self.text = text.replace("\\\n", "")
        self.at = 0
        self.inner: list[str] = []  # texts of commands inside words
        self.awaited: list[tuple[list[Redirect], int, str, bool]] = []  # here-documents to come

    def commands(self) -> Iterator[Command]:
        """Those of a line come when it is over, since only then its here-documents are read."""
        joint = ""
        line: list[tuple[list[str], list[Redirect], str]] = []
        while self.at < len(self.text):
            self.work.spend(4)
            words, redirects = self._simple()
            for text in self.inner:
                yield from commands(text, self.work)
            self.inner = []
            after = self._operator()
            if words or redirects:
                line.append((words, redirects, joint))
            if after in ("(", ")"):
                line.append(([], [], after))
            joint = after
            if after == "\n" or self.at >= len(self.text):
                self._here_documents()
                yield from (Command(tuple(one), tuple(two), at) for one, two, at in line)
                line = []

    def _operator(self) -> str:
        found = next((one for one in _OPERATORS if self.text.startswith(one, self.at)), "")
        self.at += len(found)
        return found

    def _simple(self) -> tuple[list[str], list[Redirect]]:
        words: list[str] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            self._skip_blanks()
            operator = self._redirection()
            self.work.spend(1)
            if operator:
                if words and words[-1].isdigit() and self._touches(operator):
                    words.pop()  # the 2 of `2>file`
                self._redirect(operator, redirects)
            elif self._at_operator():
                break
            elif (word := self._word()) is not None:
                words.append(word)
        return words, redirects

    def _touches(self, operator: str) -> bool:
        before = self.at - len(operator) - 1
        return before >= 0 and self.text[before].isdigit()

    def _skip_blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self.text.startswith("#", self.at):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end

    def _at_operator(self) -> bool:
        return self.at >= len(self.text) or self.text.startswith(_OPERATORS, self.at)

    def _redirection(self) -> str:
        if self.text.startswith(("<(", ">("), self.at):
            return ""
        found = next((one for one in _REDIRECTIONS if self.text.startswith(one, self.at)), "")
        self.at += len(found)
        return found

    def _redirect(self, operator: str, redirects: list[Redirect]) -> None:
        self._skip_blanks()
        word = self._word() or ""
        if operator in ("<<", "<<-"):
            redirects.append(Redirect("<<", ""))
            self.awaited.append((redirects, len(redirects) - 1, word, operator == "<<-"))
        elif not (operator in (">&", "<&") and (word.isdigit() or word == "-")):
            redirects.append(Redirect(operator, word))

    def _here_documents(self) -> None:
        for redirects, at, delimiter, tabs in self.awaited:
            lines: list[str] = []
            while self.at < len(self.text):
                line = self._until("\n")
                line = line.lstrip("\t") if tabs else line
                if line == delimiter:
                    break
                lines.append(f"{line}\n")
            redirects[at] = Redirect("<<", "".join(lines))
        self.awaited = []

    def _word(self) -> str | None:
        """None when there is nothing at all, which differs from the word ''."""
        start, parts = self.at, []
        while self.at < len(self.text):
            char = self.text[self.at]
            if self.text.startswith(("<(", ">("), self.at):
                self.at += 1
                parts.append(self._in_parentheses())
            elif char in _BREAKS:
                break
            elif char == "'":
                parts.append(self._single())
            elif char == '"':
                parts.append(self._double())
            elif char == "\\":
                parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char in "$`":
                parts.append(self._dollar())
            else:
                parts.append(char)
                self.at += 1
        self.work.spend(1 + self.at - start)
        if self.at > start:
            return "".join(parts)
        if not self._at_operator() and self.text[self.at] not in "<>":
            self.at += 1  # else the scanner would stand still
        return None

    def _until(self, mark: str) -> str:
        """What follows, and goes behind the mark that ends it."""
        start, end = self.at, self.text.find(mark, self.at)
        end = len(self.text) if end < 0 else end
        self.at = end + len(mark)
        return self.text[start:end]

    def _single(self) -> str:
        self.at += 1
        return self._until("'")

    def _double(self) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text) and (char := self.text[self.at]) != '"':
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\"):
                parts.append(self.text[self.at + 1])
                self.at += 2
            elif char in "$`":
                parts.append(self._dollar())
            else:
                parts.append(char)
                self.at += 1
        self.at += 1
        return "".join(parts)

    def _dollar(self) -> str:
        """`$name`, `${name}`, `$(command)`, a command in back-ticks, `$'…'`."""
        text, at = self.text, self.at
        self.at += 1
        if text[at] == "`":
            self.inner.append(self._until("`"))
            return UNKNOWN
        following = text[at + 1 : at + 2]
        if following == "(":
            return self._in_parentheses()
        if following == "'":
            return self._single()
        if following == "{":
            self.at += 1
            return _variable(self._until("}"))
        while self.at < len(text) and (text[self.at].isalnum() or text[self.at] == "_"):
            self.at += 1
        name = text[at + 1 : self.at]
        return _variable(name) if name else "$"

    def _in_parentheses(self) -> str:
        """Up to the bracket that closes it. What is inside is a command of its own."""
        depth, start = 0, self.at + 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "'":
                self._single()
                continue
            if char == "\\":
                self.at += 1
            depth += (char == "(") - (char == ")")
            self.at += 1
            if depth == 0:
                break
        self.inner.append(self.text[start : self.at - 1])
        return UNKNOWN


def _variable(name: str) -> str:
    plain = name.isascii() and name.replace("_", "a").isalnum()
    return f"{VARIABLE}{name}{END}" if plain else UNKNOWN
