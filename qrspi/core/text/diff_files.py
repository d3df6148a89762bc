"""Which files a diff of git is about."""

from __future__ import annotations


def files_in(diff: bytes) -> tuple[str, ...]:
    """Which files a diff is about, as far as they are there afterwards: names relative to the
    repository's root. Names that git puts in quotes are left out."""
    names: list[str] = []
    heading = False
    for line in diff.split(b"\n"):
        # A line of a file's text never starts so: it has a sign before it.
        if line.startswith(b"diff --git "):
            heading = True
        elif line.startswith(b"@@"):
            heading = False
        elif heading and line.startswith(b"+++ b/"):
            # A name with a space has a tab behind it.
            names.append(line[6:].removesuffix(b"\t").decode("utf-8", "replace"))
    return tuple(dict.fromkeys(names))
