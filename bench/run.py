"""Measure the speed goals and print them as ratios, which travel between machines.

    python bench/run.py [NAME…]

Each bench_NAME.py beside this file has `measure(lab)`, which yields its lines. The figures
are kept in bench/results/latest.json. Status 1: a benchmark could not be run.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from lab import Benchmark, Lab, Measure, bare_interpreter

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(file.stem.removeprefix("bench_") for file in HERE.glob("bench_*.py"))


def line(measure: Measure) -> str:
    marks = {True: "met", False: "MISSED", None: ""}
    goal = "" if measure.goal is None else f"goal {measure.goal:g}"
    value = f"{measure.value:.1f} {measure.unit}"
    row = f"{measure.what:<42} {value:<26} {goal:<10} {marks[measure.met]:<7} {measure.note}"
    return row.rstrip()


def run(name: str, interpreter: float) -> list[Measure]:
    benchmark: Benchmark = importlib.import_module(f"bench_{name}").measure
    with tempfile.TemporaryDirectory() as scratch:
        return list(benchmark(Lab(Path(scratch), interpreter)))


def main(wanted: list[str]) -> int:
    interpreter = bare_interpreter(HERE)
    print(line(Measure("python -c pass", interpreter * 1000, "ms")))
    results: list[Measure] = []
    failed = []
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone:
        for name in wanted or names():
            try:
                # In a process of its own: what an earlier one left in memory would slow it down.
                measures = alone.submit(run, name, interpreter).result()
            except subprocess.CalledProcessError as error:
                failed.append(name)
                print(f"{name}: not measured: {error}\n{(error.stderr or b'').decode()}")
                continue
            print(*map(line, measures), sep="\n")
            results += measures
    keep(results)
    return int(bool(failed))


def keep(results: list[Measure]) -> None:
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    rows = [measure._asdict() | {"met": measure.met} for measure in results]
    (folder / "latest.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
