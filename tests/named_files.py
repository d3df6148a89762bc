"""Whether the answer of `next --json` names every file that its agents read and write.

What a prompt says is the measure: each file of the run that it names is there, to be read, or is
not, and is to be written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# A folder to look around in, or one that others write into, is not a file.
_BESIDE = ("run_dir", "round_subdir", "report_command", "orchestration_db")


def lacking(run: Path, answer: dict[str, Any]) -> list[str]:
    """A line for each file that is left out, or that is not there to be read."""
    inputs, missing = answer["inputs"], [one["file"] for one in answer["missing"]]
    missing += [one["or"] for one in answer["missing"] if "or" in one]
    wrong = [f"input {name} is not there" for name in inputs if not (run / name).is_file()]
    if answer["who"] == "agent" and not missing and answer["kind"] != "checkpoint-task":
        wrong.append(f"nothing is to be written: {answer['summary']}")
    for prompt in answer["prompts"]:
        text = (run / prompt).read_text("utf-8")
        for name in _named(text, run):
            there = (run / name).is_file()
            if name not in (*missing, *(inputs if there else ())):
                wrong.append(f"{prompt}: {name}, to be {'read' if there else 'written'}")
    return wrong


def _named(text: str, run: Path) -> list[str]:
    lines = (line for line in text.split("\n") if not line.startswith(_BESIDE))
    found = re.findall(
        re.escape(f"{run}/") + r"([\w./-]+\.(?:md|yml|diff|log|txt))\b", "\n".join(lines)
    )
    return list(dict.fromkeys(name for name in found if not name.startswith(".qrspi/")))
