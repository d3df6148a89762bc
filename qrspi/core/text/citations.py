"""What a finding cites: `path`, `path:12`, `path:12-20`, `path:L12-L20`, and prose ranges. And how
well a research text is sourced: inline references over words."""

import re
from itertools import count

from qrspi.core.named_tuple import NamedTuple


class Citation(NamedTuple):
    path: str
    start: int | None = None  # lines, from 1; None when no range is cited
    end: int | None = None
    prose: bool = False  # the range was written in words, as in `x.md (line 212)`


_LINES = r"L?(\d{1,9})(?:-L?(\d{1,9}))?"
_USUAL = rf"(?a)([^:]*):{_LINES}"
_WORDS = r"(?:[Ll]ines? *|L)(\d{1,9})(?: *(?:-|–|—|to|through) *L?(\d{1,9}))?"
# Compiled with the first use: few findings need it, and every start would pay for it.
_PROSE = rf"(?a)([^:\s(]+(?: [^:\s(]+)*?)(?:,? ?\({_WORDS}\)|[ ,:#]{{1,2}}{_WORDS})"
_ENTRY_LIMIT = 4096  # no path is longer; keeps the pattern's work small
_UNPRINTED = r"[\x00-\x1f\x7f\x85\u2028\u2029]"


def parse(entry: str) -> Citation | None:
    """A path that leads out of the project is still a citation: who opens the file checks it."""
    entry = entry.strip()
    if not entry or len(entry) > _ENTRY_LIMIT:
        return None
    if not entry.isprintable() and re.search(_UNPRINTED, entry):
        return None
    if match := re.fullmatch(_USUAL, entry):
        return _ranged(match[1], match[2], match[3], prose=False)
    if match := re.fullmatch(_PROSE, entry):
        path = match[1].rstrip(",")
        return _ranged(path, match[2] or match[4], match[3] or match[5], prose=True)
    return None if ":" in entry else Citation(entry)


def _ranged(path: str, first: str, last: str | None, *, prose: bool) -> Citation | None:
    path = path.strip()
    start = int(first)
    end = int(last) if last else start
    return Citation(path, start, end, prose) if path and 1 <= start <= end else None


_FOLDER = "feedback/"
_PART_OF_A_NAME = r"[A-Za-z0-9_-]"
_FILE_END = r"(?s).\.md(?![A-Za-z0-9_])"


def cites_feedback(entry: str) -> bool:
    """Whether one citation names `feedback/<anything>.md`, here or in any folder above."""
    at = entry.find(_FOLDER)
    while at > 0 and re.match(_PART_OF_A_NAME, entry[at - 1]):
        at = entry.find(_FOLDER, at + 1)
    return at >= 0 and re.search(_FILE_END, entry[at + len(_FOLDER) :]) is not None


def mentions_feedback(message: str) -> bool:
    """The same for prose. What is quoted between untrusted markers is not the reviewer's word."""
    if _FOLDER not in message:
        return False
    return any(map(cites_feedback, without_quotes(message).split()))


_MARKER = r"<<<UNTRUSTED-([A-Z-]{1,40})-(START|END) id=([A-Za-z0-9._/-]+)(?: encoding=base64)?>>>"


def without_quotes(text: str) -> str:
    """The text without what stands between untrusted markers. A start alone encloses nothing."""
    markers = list(re.finditer(_MARKER, text))
    last_end = {(mark[1], mark[3]): mark.start() for mark in markers if mark[2] == "END"}
    kept, at, opened = [], 0, None
    for mark in markers:
        source = mark[1], mark[3]
        if opened is None and mark[2] == "START" and last_end.get(source, -1) > mark.start():
            kept.append(text[at : mark.start()])
            opened = source
        elif mark[2] == "END" and source == opened:
            at, opened = mark.end(), None
    return " ".join((*kept, text[at:]))


class Density(NamedTuple):
    references: int
    words: int

    @property
    def value(self) -> float:
        return self.references / self.words if self.words else 0.0


# The list of sources at the end, which `[3]` points to: these are no references themselves.
_DEFINITION = r" {0,3}\[\^?[^\]]{1,80}\]:"
_LINK = r"\[[^\[\]\n]{0,500}\]\([^()\s]{1,2000}(?:[ \t]\"[^\"\n]{0,200}\")?\)"
_URL = r"https?://[^\s<>()\[\]`]+"
_NUMBER = r"\[\^?\d{1,4}\]"
_CITED_LINES = r":(L?)\d{1,7}(?:-L?\d{1,7})?(?!\w)"
# A path is searched for backwards from its line number, and not far. A forward search from every
# character of a long run of names would take quadratic time.
_NAME = r"[\w./@+-]{1,200}\Z"
_A_FILES = r"/|\.[A-Za-z]\w{0,9}\Z"


def density(data: bytes) -> Density:
    """Code in fences and the list of sources count neither as words nor as references."""
    # Imported here: findings cite too, and need neither.
    from qrspi.core.text.tables import Line, shown
    from qrspi.core.yaml import frontmatter

    text = frontmatter.body(data).decode(errors="replace")
    lines = (line.text for line in shown(map(Line, count(1), text.splitlines())))
    prose = "\n".join(line for line in lines if not re.match(_DEFINITION, line))
    words = sum(1 for word in prose.split() if any(map(str.isalnum, word)))
    return Density(_references(prose), words)


def _references(prose: str) -> int:
    total = 0
    for pattern in (_LINK, _URL, _NUMBER):
        prose, found = re.subn(pattern, " ", prose)
        total += found
    return total + sum(_is_path(prose, match) for match in re.finditer(_CITED_LINES, prose))


def _is_path(prose: str, lines: re.Match[str]) -> bool:
    name = re.search(_NAME, prose[max(0, lines.start() - 200) : lines.start()])
    return name is not None and bool(lines[1] or re.search(_A_FILES, name[0]))
