"""In a process of its own: one with threads does not fork, and a test runner may have some."""

from __future__ import annotations

import subprocess
import sys

import pytest

THINGS = """
import os, signal, sys
from qrspi.world.processes import forked_work
os.sched_getaffinity = lambda pid: {0, 1, 2}
parent, things = os.getpid(), range(forked_work.FEWEST * 3 + 1)
"""
CASES = {
    "in their order, by three": """
def work(thing):
    return thing, os.getpid()
found = forked_work.each(work, things, things)
assert [thing for thing, pid in found] == list(things)
print(len({pid for thing, pid in found}))
""",
    "few by one": """
few = range(forked_work.FEWEST * 2 - 1)
print(len(set(forked_work.each(lambda thing: os.getpid(), few, few))))
""",
    "with threads by one": """
import threading
wait = threading.Event()
threading.Thread(target=wait.wait).start()
print(len(set(forked_work.each(lambda thing: os.getpid(), things, things))))
wait.set()
""",
    "the share of a killed child by the parent": """
def work(thing):
    if thing == 4 and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return thing, os.getpid()
found = forked_work.each(work, things, things)
assert [thing for thing, pid in found] == list(things)
print(len({pid for thing, pid in found}))
""",
    "a mistake is the parent's": """
def work(thing):
    if thing == 4:
        raise KeyError(os.getpid() == parent)
try:
    forked_work.each(work, things, things)
except KeyError as error:
    print(error)
""",
    "no child is left": """
def work(thing):
    if os.getpid() == parent:
        raise KeyboardInterrupt
    signal.pause()
try:
    forked_work.each(work, things, things)
except KeyboardInterrupt:
    pass
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none")
""",
    "all are counted": """
def told():
    for thing in things:
        counted.append(thing)
        yield thing
counted = []
forked_work.each(lambda thing: thing, things, told())
print(counted == list(things))
""",
}
SAID = ("3", "1", "1", "2", "True", "none", "True")


@pytest.mark.parametrize(("case", "said"), tuple(zip(CASES, SAID, strict=True)))
def test_work_is_done_side_by_side(case: str, said: str) -> None:
    command = [sys.executable, "-c", THINGS + CASES[case]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr, done.returncode) == (said, "", 0)
