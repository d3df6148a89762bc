"""YAML as people and agents write it, and a little beside that."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

KEYS = ["status", "extra-low", "x_y", *"abcdefghijklmnopqrs"]
ODD_KEYS = [
    *["true", "null", "~", "1", "<<", "a b", "-a", "é", "'q'", '"q"', "a.b", "", "?", "[a]", "a#b"],
    *["k" * 130, "- a", "a: b", "&a b", "!t a"],
]
WORDS = ["x", "b1", "approved", "x/y.md:L1-L2", "two words", "1", "1.5", "true", "é", "a#b", "-1"]
ODD_WORDS = [
    *[
        "",
        "a: b",
        "a:",
        ":a",
        "a #b",
        "#a",
        "it's",
        'say "x"',
        "a?",
        "? a",
        "- a",
        "&a",
        "*a",
        "!t x",
    ],
    *["|", ">", "%a", "@a", "`a", "a\tb", "\ta", "a\xa0", "\u200b", "\ufeff", "...", "---", "a, b"],
    *[
        "[a",
        "a]",
        "{a",
        "a}",
        "😀",
        "\\",
        "=",
        "<<",
        "'a",
        '"a',
        "'a''b'",
        '"a\\n"',
        "a\x00",
        "\x85",
    ],
]
OTHERS = ["text", "? a", ": b", "%x", "---", "--- a", "...", "\t", " \t# c", "- - a", "- a: b", "-"]


class Mill:
    """Pieces of YAML ground from usual parts, and up to so many odd ones each."""

    def __init__(self, odd: int, random: Random | None = None) -> None:
        self._random = random or Random(odd)
        self._odd = self._left = odd

    def pieces(self) -> list[str]:
        return [self.piece() for _ in range(3000)]

    def piece(self) -> str:
        self._left = self._odd
        if self._odd and self._random.random() < 0.05:
            return self._random.choice(OTHERS)
        indent = self.pick([""], [" ", "  ", "\t"])
        match self._random.randrange(8):
            case 0:
                below = [self.item() for _ in range(self._random.randrange(4))]
            case 1:
                below = [self.field() for _ in range(self._random.randrange(4))]
            case 2:
                return self._random.choice(["", "  ", "# c", "  # c"])
            case _:
                return indent + self.field()
        deeper = self._random.choice(["  ", "    "]) if below and below[0][0] != "-" else "  "
        uneven = self.pick([""], [" ", "\n", "\n# c\n", "\t"])
        head = f"{indent}{self.key()}{self.tail()}\n{uneven}"
        return head + "\n".join(f"{indent}{deeper}{line}" for line in below)

    def pick(self, usual: list[str], odd: list[str]) -> str:
        if self._left and self._random.random() < 0.15:
            self._left -= 1
            return self._random.choice(odd)
        return self._random.choice(usual)

    def key(self) -> str:
        return self.pick(KEYS, ODD_KEYS) + self.pick([":"], [" :", "", "::"])

    def tail(self) -> str:
        return self.pick(["", "", "", " ", " # c"], ["# c", "  #", "\t", "\t# c"])

    def field(self) -> str:
        return self.key() + self.pick([" "], ["", "  ", "\t"]) + self.value() + self.tail()

    def item(self) -> str:
        return "-" + self.pick([" "], ["", "  ", "\t"]) + self.value() + self.tail()

    def value(self) -> str:
        gap = self._random.choice(["", " "])
        match self._random.randrange(5):
            case 0:
                end = self.pick(["]"], [",]", "}", "", "] x", "]]", "]#"])
                return f"[{gap}{self.many(self.scalar)}{gap}{end}"
            case 1:
                end = self.pick(["}"], [",}", "]", "", "} x", "}}", "}#"])
                return f"{{{gap}{self.many(self.pair)}{gap}{end}"
            case _:
                return self.scalar()

    def many(self, part: Callable[[], str]) -> str:
        parts = [part() for _ in range(self._random.randrange(4))]
        return self.pick([", "], [",", " , ", " ,", ", , "]).join(parts)

    def pair(self) -> str:
        return self.key() + self.pick([" "], ["", "  ", "\t"]) + self.scalar()

    def scalar(self) -> str:
        word = self.pick(WORDS, ODD_WORDS)
        quote = self._random.choice(["", "", "'", '"'])
        return f"{quote}{word}{quote}"
