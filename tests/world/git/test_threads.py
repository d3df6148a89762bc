"""Git from several threads at once, in a process that has not used it yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, threading, time
from qrspi.world.git import refs, repository
repo = repository.find(sys.argv[1])
def hesitating(frame, event, argument):  # whoever imports is overtaken by the others
    if frame.f_code.co_name == "_import_quietly":
        time.sleep(0.02)
        return hesitating
threading.settrace(hesitating)
together, wrong = threading.Barrier(10), []
def ask():
    together.wait()
    try:
        refs.resolve(repo, "HEAD") or wrong.append("none")
    except Exception as error:
        wrong.append(str(error))
threads = [threading.Thread(target=ask) for _ in range(10)]
for one in threads: one.start()
for one in threads: one.join()
print(wrong)
"""


def test_the_first_use_by_ten_threads(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Start"], check=True)
    words = [sys.executable, "-c", SCRIPT, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
