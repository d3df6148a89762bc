"""Which files of a run a shell command would write. A new way round is a new row."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

import pytest

from qrspi.core.hosts import shell_writes
from qrspi.core.hosts.work_limit import MOST, TooMuch
from qrspi.core.hosts.written_files import Committed, Copied, Gone, Text, run_file

PROJECT = "/home/ada/shop"
RUN = "docs/qrspi/2026-05-17-user-auth"
GOALS = f"{RUN}/goals.md"


def written(command: str, cwd: str = PROJECT) -> list[str]:
    found = shell_writes.writes(command, cwd, {"HOME": "/home/ada"}, PROJECT)
    files = (run_file(write.path) for write in found)
    return [file.name for file in files if file]


WRITES = {
    f"echo x > {GOALS}": ["goals.md"],
    f"echo x >> {GOALS} 2>&1": ["goals.md"],
    f"echo x >| '{GOALS}'": ["goals.md"],
    f"echo x &> {GOALS}": ["goals.md"],
    f'echo x>"{GOALS}"': ["goals.md"],
    f"make 2>{GOALS}": ["goals.md"],
    f"cat > {GOALS} <<'EOF'\n---\nstatus: draft\n---\nEOF\n": ["goals.md"],
    f"cat <<-EOF >{GOALS}\n\ttext\n\tEOF\n": ["goals.md"],
    f"echo x | tee {GOALS} {RUN}/design.md": ["goals.md", "design.md"],
    f"echo x | sudo tee -a {GOALS} >/dev/null": ["goals.md"],
    f"sed -i 's/draft/approved/' {GOALS}": ["goals.md"],
    f"sed -i.bak -e s/a/b/ -e s/c/d/ {GOALS}": ["goals.md"],
    f"sed -Ei 's/a/b/' {RUN}/tasks/*.md": ["tasks/*.md"],
    f"sed --in-place 's/a/b/' {GOALS}": ["goals.md"],
    f"perl -pi -e 's/draft/approved/' {GOALS}": ["goals.md"],
    f"perl -i.orig -ne print {GOALS}": ["goals.md"],
    f"gawk -i inplace '{{print}}' {GOALS}": ["goals.md"],
    f"cp /tmp/x {GOALS}": ["goals.md"],
    f"cp -t {RUN} /tmp/x": [""],
    f"mv {RUN}/design.md {GOALS}": ["design.md", "goals.md"],
    f"install -m 644 /tmp/x {GOALS}": ["goals.md"],
    f"ln -sf /tmp/x {GOALS}": ["goals.md"],
    f"rm -f {GOALS}": ["goals.md"],
    f"truncate -s 0 {GOALS}": ["goals.md"],
    f"touch {GOALS}": ["goals.md"],
    f"dd if=/tmp/x of={GOALS}": ["goals.md"],
    f"curl -o {GOALS} http://127.0.0.1/": ["goals.md"],
    f"git checkout HEAD~1 -- {GOALS}": ["goals.md"],
    f"git checkout main {GOALS}": ["goals.md"],
    f"git -C docs restore --source HEAD~1 qrspi/{RUN[11:]}/goals.md": ["goals.md"],
    f"git rm -q {GOALS}": ["goals.md"],
    f"git mv {GOALS} /tmp/x": ["goals.md"],
    f"git show HEAD:{GOALS} > {GOALS}": ["goals.md"],
    f"git apply <<'E'\n--- a/{GOALS}\n+++ b/{GOALS}\n@@ -1 +1 @@\n-a\n+b\nE\n": ["goals.md"],
    f"apply_patch <<'E'\n*** Begin Patch\n*** Update File: {GOALS}\n@@\n-a\n+b\n*** End Patch\nE": [
        "goals.md"
    ],
    f"apply_patch '*** Begin Patch\n*** Delete File: {GOALS}\n*** End Patch'": ["goals.md"],
    f"cd {RUN} && echo x > goals.md": ["goals.md"],
    f"cd docs; cd qrspi/{RUN[11:]}; rm design.md": ["design.md"],
    f"(cd {RUN} && rm design.md); rm goals.md": ["design.md"],
    f"pushd {RUN} >/dev/null\necho x > goals.md": ["goals.md"],
    f'cd "$(git rev-parse --show-toplevel)" && rm {GOALS}': ["goals.md"],
    f"F={GOALS}; echo x > $F": ["goals.md"],
    f'export D={RUN}\necho x > "${{D}}/goals.md"': ["goals.md"],
    f"for f in goals design; do echo x > {RUN}/$f.md; done": ["goals.md", "design.md"],
    f"rm {RUN}/{{goals,design}}.md": ["goals.md", "design.md"],
    f"rm ~/shop/{GOALS}": ["goals.md"],
    f"bash -lc 'echo x > {GOALS}'": ["goals.md"],
    f"bash <<'E'\nrm {GOALS}\nE\n": ["goals.md"],
    f"eval 'rm {GOALS}'": ["goals.md"],
    f"true && ! false || env A=b rm {GOALS}": ["goals.md"],
    f"if true; then rm {GOALS}; fi": ["goals.md"],
    f"echo $(rm {GOALS})": ["goals.md"],
    f"echo `rm {GOALS}`": ["goals.md"],
    f"find {RUN} -name goals.md -delete": ["**/goals.md"],
    f"find {RUN} -name goals.md -exec sed -i s/a/b/ {{}} \\;": ["**/goals.md"],
    f"python3 -c \"open('{GOALS}','w').write('x')\"": ["goals.md"],
    f"python3 -c \"from pathlib import Path; Path('{GOALS}').write_text('x')\"": ["goals.md"],
    f"python - <<'E'\nfrom pathlib import Path\np = Path('{RUN}') / 'goals.md'\n"
    "p.write_text(p.read_text().replace('draft', 'approved'))\nE\n": ["goals.md"],
    f"python3 -c \"import os; os.remove('{GOALS}')\"": ["goals.md"],
    f"python3 -c \"import sys; open(sys.argv[1], 'a')\" {GOALS}": ["goals.md"],
    f"python3 -c \"with open('{GOALS}', mode='r+') as f: f.truncate()\"": ["goals.md"],
    "python3 -c \"import glob\nfor f in glob.glob('docs/qrspi/*/goals.md'): open(f, 'w')\"": [
        "goals.md"
    ],
    f"node -e \"require('fs').writeFileSync('{GOALS}', 'x')\"": ["goals.md"],
    f"ruby -e \"File.write('{GOALS}', 'x')\"": ["goals.md"],
}


@pytest.mark.rule("HST-16")
@pytest.mark.parametrize(("command", "names"), WRITES.items())
def test_a_command_that_writes_names_what_it_writes(command: str, names: list[str]) -> None:
    assert written(command) == names


@pytest.mark.rule("HST-16")
def test_paths_are_taken_from_where_the_session_stands() -> None:
    assert written("echo x > goals.md", f"{PROJECT}/{RUN}") == ["goals.md"]
    assert written("echo x > ../goals.md", f"{PROJECT}/{RUN}/research") == ["goals.md"]
    assert written(f"echo x > {GOALS}", "/elsewhere") == ["goals.md"]


READS = [
    f"cat {GOALS}",
    f"cat < {GOALS} > /tmp/copy",
    f"cp {GOALS} /tmp/approved",
    f"grep -n 'status: approved' {GOALS}",
    f"sed -n 's/draft/approved/p' {GOALS}",
    f"perl -ne 'print if /approved/' {GOALS}",
    f"awk '/status: approved/ {{print > \"/tmp/x\"}}' {GOALS}",
    f"git log -p -- {GOALS}",
    f"git diff HEAD {GOALS}",
    f"git add {GOALS} && git commit -m 'status: approved in {GOALS} > x'",
    f"git restore --staged {GOALS}",
    "git checkout -b rm-docs-qrspi",
    f"git show HEAD:{GOALS}",
    f"qrspi validate {GOALS}",
    f"qrspi approve {RUN[11:]} goals",
    f"echo 'rm {GOALS}'",
    f'echo "echo x > {GOALS}" # > {GOALS}',
    f"cat > /tmp/x <<'EOF'\nrm {GOALS}\necho x > {GOALS}\nEOF\n",
    f"python3 -c \"print(open('{GOALS}').read())\"",
    f"python3 -c \"open('/tmp/x','w').write(open('{RUN}/approvals.jsonl').read())\"",
    f"python3 -c \"from pathlib import Path; print(Path('{GOALS}').read_text().replace('a','b'))\"",
    f"node -e \"console.log(require('fs').readFileSync('{GOALS}', 'utf8'))\"",
    f"diff {GOALS} /tmp/x > /tmp/y",
    f"wc -l {RUN}/*.md 2>/dev/null",
    f"find {RUN} -name '*.md' -exec grep -l approved {{}} +",
    f"(cd {RUN}); echo x > goals.md",
    f"test {GOALS} -nt /tmp/x && touch /tmp/seen",
    f"tar cf /tmp/x.tar {RUN}",
    "",
    "echo 'unfinished > ",
    "cat <<EOF",
    ")))((( && ; > < | $( `",
]


@pytest.mark.rule("HST-16")
@pytest.mark.parametrize("command", READS)
def test_a_command_that_only_reads_a_run_writes_nothing_of_it(command: str) -> None:
    assert written(command) == []


def source(command: str) -> object:
    (write,) = shell_writes.writes(command, PROJECT, {}, PROJECT)
    return write.by


def test_what_would_stand_there_is_known_where_the_words_tell() -> None:
    assert source(f"cat > {GOALS} <<'E'\none\ntwo\nE\n") == Text("one\ntwo\n")
    assert source(f"cat <<'E' | tee -a {GOALS}\none\nE\n") == Text("one\n", append=True)
    assert source(f"cat >> {GOALS} <<'E'\none\nE\n") == Text("one\n", append=True)
    assert source(f"cp notes.md {GOALS}") == Copied(f"{PROJECT}/notes.md")
    assert source(f"cat notes.md > {GOALS}") == Copied(f"{PROJECT}/notes.md")
    assert source(f"git checkout main -- {GOALS}") == Committed("main")
    assert source(f"git checkout -- {GOALS}") == Committed("")
    assert source(f"git show main:{GOALS} > {GOALS}") == Committed(f"main:{GOALS}")
    assert source(f"rm {GOALS}") == Gone()


def test_a_long_here_document_costs_little_to_read() -> None:
    text = "a line\n" * 18_000
    assert written(f"cat > {GOALS} <<'EOF'\n{text}EOF\n") == ["goals.md"]


# What a shell may be asked to read over and over.
SHAPES = {
    "words": "a ",
    "commands": "ls;",
    "lines": "ls\n",
    "groups": "( ",
    "settings": "a=b ",
    "redirections": "2>&1 ",
    "half redirections": "<",
    "comments": "# x\n",
    "variables": "$a ",
    "substitutions": "$(a) ",
    "choices": "{a,b}",
    "quotes": "'a'\"b\"",
    "here-documents": "cat <<A\nx\nA\n",
    "here-documents to come": "<<A ",
    "functions": "f(){ a;}\n",
    "programs": "sudo cp a b;",
    "scripts": "bash -c 'a > b'\n",
    "python": 'python3 -c \'open("x", "w")\'\n',
}


def steps(text: str) -> int:
    """How many functions are called until it is known, or given up, what a command writes."""
    done = 0

    def count(frame: FrameType | None, event: str, arg: object) -> None:
        nonlocal done
        done += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        with suppress(TooMuch, RecursionError):
            shell_writes.writes(text, PROJECT, {}, PROJECT)
    finally:
        sys.setprofile(None)
    return done


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_longest_command_is_judged_in_so_many_steps(shape: str) -> None:
    """Some ten for each character, whatever it says; and no step of them is long."""
    assert steps(shape * (MOST // len(shape))) < 16 * MOST


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_longer_command_is_refused_unread(shape: str) -> None:
    with pytest.raises(TooMuch):
        written(shape * (MOST + 1))
    assert steps(shape * (MOST + 1)) < 20
