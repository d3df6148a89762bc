"""The documentation's transcripts are real, and no command is without its page."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import transcripts

from qrspi.cli.app import application
from qrspi.cli.verb_table import VERBS
from tests.forked_command import qrspi

ROOT = transcripts.ROOT


@pytest.mark.parametrize(
    "document", transcripts.documents(), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_the_transcripts_are_what_the_commands_print(document: Path, tmp_path: Path) -> None:
    text = document.read_text("utf-8")
    replayed = transcripts.replay(text, tmp_path, qrspi().parent)
    assert replayed == text, "python tools/transcripts.py rewrites what changed"


def test_each_command_has_a_page_and_each_page_a_command() -> None:
    pages = {page.stem for page in (ROOT / "docs" / "commands").glob("*.md")}
    assert pages == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_says_what_the_help_says(verb: str) -> None:
    """The synopsis and each option stand on the page; click decides what they are."""
    command = application.get_command(click.Context(application), verb)
    assert command
    page = (ROOT / "docs" / "commands" / f"{verb}.md").read_text("utf-8")
    assert page.startswith(f"# qrspi {verb}\n")
    assert [option for option in _options(command) if f"`{option}" not in page] == []


def _options(command: click.Command) -> list[str]:
    """The long options a person can give, of the command and of its action words."""
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    own = [
        max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    return sorted({*own, *(option for word in inner for option in _options(word))} - {"--json"})


def test_a_transcript_is_replayed_in_one_repository_and_one_place(tmp_path: Path) -> None:
    written = """\
Make a folder:

```console
$ mkdir src && cd src
$ cat > note.txt <<'END'
> one
>
> two
> END
```

and look at it later:

```console
$ pwd
stale
$ cat note.txt; git log --format='%h %s'
$ echo 'made 2026-02-03 by qrspi 9.9.9'
made 2025-12-31 by qrspi 0.1.0
$ ls missing-folder 2>/dev/null
```
"""
    replayed = """\
Make a folder:

```console
$ mkdir src && cd src
$ cat > note.txt <<'END'
> one
>
> two
> END
```

and look at it later:

```console
$ pwd
/home/ada/shop/src
$ cat note.txt; git log --format='%h %s'
one

two
e8c1a92 Start
$ echo 'made 2026-02-03 by qrspi 9.9.9'
made 2025-12-31 by qrspi 0.1.0
$ ls missing-folder 2>/dev/null
(exit 2)
```
"""
    assert transcripts.normal(transcripts.replay(written, tmp_path)) == transcripts.normal(replayed)


def test_a_transcript_that_does_not_begin_with_a_command_is_an_error() -> None:
    with pytest.raises(
        ValueError, match="a transcript begins with '\\$ ', not with 'qrspi status'"
    ):
        transcripts.steps("qrspi status\n")


@pytest.mark.parametrize(
    ("output", "normal"),
    [
        ("2026-05-17-user-auth", "<date>-user-auth"),
        ("at 2026-05-17T10:11:12Z", "at <time>"),
        ("anchor 0123456789abcdef0123456789abcdef01234567", "anchor <sha>"),
        ("e8c1a92 Start", "<sha> Start"),
        ("committed as 656735511506", "committed as <sha>"),
        ("qrspi 0.1.0", "qrspi <version>"),
        ("1234567 findings in a facade", "1234567 findings in a facade"),
        ("/tmp/tmpabc/x is gone", "<temporary> is gone"),
    ],
)
def test_only_what_may_differ_is_left_out_of_the_comparison(output: str, normal: str) -> None:
    assert transcripts.normal(output) == normal
