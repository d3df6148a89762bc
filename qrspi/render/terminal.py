"""Text as a terminal shows it: safe to print, in columns, folded, coloured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from qrspi.core import patterns

_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}
# Letters, marks and signs that are drawn as nothing, although Unicode calls them none of what
# `isprintable` leaves out: fillers, blanks and variant selectors. A word of them, or a bit in each
# of many, is read by a model and by nobody else.
_BLANK = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800),
            *(0x2D7F, 0x3164, 0xFFA0, 0x1107F, 0x13441, 0x13442, 0x16FE4, 0x1D159),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)
_LINES = "\u2028\u2029"


def visible(text: str) -> str:
    """Text from agents and artifacts. Apart from new lines and tabs, anything that would move the
    cursor, hide letters or reorder them is spelt out; and what nobody has given a shape: private
    letters, unassigned ones, halves of one."""
    if text.isascii():
        return text.translate(_CONTROLS)
    return text.translate({ord(char): _spelt(char) for char in set(text) if _is_unseen(char)})


def _is_unseen(char: str) -> bool:
    """Spaces of any width are blank as well, and known to be."""
    if char.isprintable():
        return char in _BLANK
    return char not in "\n\t" and (not char.isspace() or ord(char) < 160 or char in _LINES)


def _spelt(char: str) -> str:
    code = ord(char)
    return _CONTROLS.get(code) or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def one_line(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text  # nearly always, and `status --all` asks ten times for each run
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 80) -> list[str]:
    cells = [[one_line(cell) for cell in row] for row in (head, *rows)]
    sizes = [max(map(cells_of, column)) for column in zip(*cells, strict=True)]
    return [table_row(row, sizes, width) for row in cells]


def table_row(cells: Sequence[str], sizes: Sequence[int], width: int) -> str:
    return fitted("  ".join(map(_padded, cells, sizes)).rstrip(), width)


def _padded(cell: str, size: int) -> str:
    return cell.ljust(size) if cell.isascii() else cell + " " * (size - cells_of(cell))


def fitted(line: str, width: int) -> str:
    if cells_of(line) <= width:
        return line
    from qrspi.core.text import shortened

    most = max(width - 1, 1)
    while most > 1 and cells_of(line[:most]) >= width:
        most -= 1
    start = line.rfind("  ", 0, most) + 2  # of the last cell that is seen; of text without any: 1
    start = start if start > 1 else 0
    return line[:start] + shortened.at_words(line[start:], most - start)


def cells_of(text: str) -> int:
    """How many columns a text takes on a terminal: letters of some scripts take two, marks none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def folded(lines: Iterable[str], width: int) -> Iterator[str]:
    """Long lines broken between words. A command, in backticks or at the end of its line, stays on
    one line: a person who copies half of it runs half of it. One that is longer than a line is
    left to the terminal, from which it is copied as one."""
    for line in lines:
        long = _unstyled_cells(line) > width and not patterns.match(_COMMAND, line)
        yield from _fold(line, width) if long else (line,)


def _fold(line: str, width: int) -> Iterator[str]:
    margin = " " * (len(line) - len(line.lstrip(" ")) + 2)
    folded = ""
    for phrase in _phrases(line, width - len(margin)):
        if folded.strip() not in ("", "-") and _unstyled_cells(folded + phrase) > width:
            yield folded
            folded = margin + phrase.lstrip(" ")
        else:
            folded += phrase
    yield folded


# Texts, as in core.filenames: few lines are folded, and compiling slows a cold start.
_COMMAND = r" *(?:qrspi|git) [^`]*$"
_IN_TICKS = r"`(?:qrspi|git) "
_PHRASE = r" *(?:(?<=: )(?:qrspi|git) [^`]*$|(?:`[^`]*`|[^ ])+)"


def _phrases(line: str, room: int) -> Iterator[str]:
    for phrase in patterns.findall(_PHRASE, line):
        whole = patterns.search(_IN_TICKS, phrase)
        fits = whole or _unstyled_cells(phrase.lstrip(" ")) <= room
        yield from (phrase,) if fits else patterns.findall(r" *[^ ]+", phrase)


def _unstyled_cells(text: str) -> int:
    return cells_of(patterns.sub(r"\x1b\[[0-9;]*m", "", text))


Paint = Callable[[str, str], str]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def painter(on: bool) -> Paint:
    return _painted if on else plain


def plain(text: str, style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and text else text
