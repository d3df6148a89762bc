"""What a reviewer printed, through the splitter, and then as the files of a round."""

from __future__ import annotations

from random import Random

from qrspi.core.config import reader as configs
from qrspi.core.filenames import parse_round_file
from qrspi.core.findings import guard, printed_reply, triage
from qrspi.core.findings.printed_reply import BOUNDARY, NOTHING, Split
from qrspi.core.model import Problem
from qrspi.core.pipeline import subject_of
from qrspi.core.rounds import verified_file
from tests import runs
from tests.fuzz.case import Fuzz

TAG = "quality-claude"
GOALS = subject_of("goals")
CONFIG = configs.read(runs.config())
FENCES = ("", "", "```\n", "```yaml\n", "~~~~\n", "  ```\n")
MARKS = ("---", "---", "---", "--- ", "  ---", "----", "...")
KEYS = ("finding_id", "finding_id", "id", "finding", "Finding_Id", "  finding_id")
IDS = ("R1-F01", "R1-F02", "R2-F01", "F1", "", "R1-F1000", "'R1-F01'", "[R1]")
SEVERITIES = ("low", "medium", "high", "critical", "Medium", "")
KINDS = ("correctness", "style", "scope", "intent", "clarity", "wish", "{a: b}")
CITES = ("[goals.md:L7]", "[goals.md]", "goals.md:L7", "[]", "[../x]", "[a, b, c]", "[goals.md:L0]")
WORDS = ("The text says two things.", "---", NOTHING, BOUNDARY, "```", "é\u202e", "", "# A heading")
BETWEEN = ("", "", "\n", "Here is what I found:\n", "\n\n---\n\n", NOTHING + "\n", "<<<FINDING\n")


def make(random: Random) -> bytes:
    pick = random.choice
    if random.random() < 0.03:
        marked = f"\ufeff{NOTHING}\r\n".encode()
        return pick((b"", NOTHING.encode(), marked, b"\xff\xfe", b"\n" * 9))
    findings = [_finding(random) for _ in range(random.randrange(1, 6))]
    edge = pick((f"{BOUNDARY}\n", f"{BOUNDARY}\n", f"{BOUNDARY} \n", f" {BOUNDARY}\n", "", "\n\n"))
    text = "".join(pick(BETWEEN) + edge + one for one in findings) + pick(BETWEEN)
    if random.random() < 0.2:
        at = random.randrange(len(text))
        new = pick(("", "\n", "\0", "\r", "---\n", "\t"))
        text = text[:at] + new + text[at + random.randrange(9) :]
    data = text.replace("\n", pick(("\n", "\n", "\r\n"))).encode()
    return data[: random.randrange(len(data))] if random.random() < 0.05 else data


def _finding(random: Random) -> str:
    pick, odd = random.choice, random.random() < 0.4
    fields = {
        "finding_id": f"R1-F{random.randrange(1, 5):02d}",
        "severity": "medium",
        "change_type": pick(KINDS[:4]),
        "referenced_files": "[goals.md:L7]",
        "artifact": "goals",
        "round": "1",
        "reviewer": TAG,
    }
    if odd:
        fields |= {"severity": pick(SEVERITIES), "change_type": pick(KINDS)}
        fields |= {"referenced_files": pick(CITES), "finding_id": pick(IDS)}
        fields.pop(pick(tuple(fields)), None)
    lines = [f"{name}: {value}" for name, value in fields.items()]
    if odd:
        lines[0] = lines[0].replace("finding_id", pick(KEYS))
        random.shuffle(lines)
    fence, mark = pick(FENCES) if odd else "", pick(MARKS) if odd else "---"
    closing = fence.strip().rstrip("yaml")
    body = "\n".join(pick(WORDS) for _ in range(random.randrange(1, 4)))
    return f"{fence}{mark}\n" + "\n".join(lines) + f"\n{mark}\n{body}\n{closing}\n"


def check(reply: bytes) -> str:
    strict = printed_reply.split(reply, TAG, 1)
    found = printed_reply.split_any(reply, TAG, 1)
    if isinstance(strict, Split):
        assert found == strict, (found, strict)
        assert printed_reply.split(printed_reply.joined(strict), TAG, 1) == strict._replace(
            warnings=()
        ), strict
    if isinstance(found, Problem):
        assert found.message.isprintable(), found
        return "refused"
    names = [name for name, _ in found.files]
    assert names and len(set(names)) == len(names), names
    assert all(parse_round_file(name) for name in names), names
    assert all(data.endswith(b"\n") for _, data in found.files), found
    return "clean" if found.clean else _round(found)


def _round(found: Split) -> str:
    """Every file is a record of the round or a violation, and what is kept can be put down."""
    folder = f"{GOALS.reviews}/round-01"
    tree = runs.tree({f"{folder}/{name}": data for name, data in found.files})
    read = guard.read_round(tree, GOALS, 1, CONFIG, None)
    assert len(read.findings) + len(read.violations) >= len(found.files), read
    assert all(problem.message.isprintable() for problem in read.violations), read.violations
    triaged = triage.partition(read, verifier_enabled=True, skipped=False)
    assert len(triaged) == len(read.findings), triaged
    assert verified_file.assemble(read, triaged, "true"), triaged
    return "findings" if len(read.findings) == len(found.files) else "with violations"


FUZZ = Fuzz("replies", 200_000, make, check)
