"""Workers and engines as real processes, an agent that tells when it is called and waits for leave
to answer, and a run whose design is to be reviewed by two."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from qrspi.core.fleet import queues
from tests.fleet.broker import Broker
from tests.handlers.shop import Shop, in_review
from tests.patience import until
from tests.project import trap

QRSPI = Path(sys.executable).with_name("qrspi")
MODELS = ("small", "middle", "large")
LIMIT = 90.0  # seconds for what takes one, on a machine with other things to do


class Program(subprocess.Popen[str]):
    """A command whose words go to a file, so that no pipe fills up."""

    def __init__(self, words: list[str], folder: Path, env: dict[str, str], **more: Any) -> None:
        self.log = folder / f"log-{len(list(folder.glob('log-*')))}"
        with self.log.open("w") as log:
            super().__init__(
                [str(QRSPI), *words],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=True,
                **more,
            )

    def said(self) -> str:
        return self.log.read_text()

    def ended(self) -> tuple[int, str]:
        return self.wait(LIMIT), self.said()


class Fleet:
    def __init__(self, broker: Broker, folder: Path) -> None:
        self.broker = broker
        self.folder = folder
        self.vendor = f"v{os.urandom(4).hex()}"  # a queue that no other test serves
        self._started: list[Program] = []
        (folder / "logs").mkdir()

    def close(self) -> None:
        for one in self._started:
            if one.poll() is None:
                one.send_signal(signal.SIGCONT)
                one.kill()
            one.wait()
        queue = queues.of_vendor(self.vendor).name
        if self.broker.standing(queue):
            self.broker.delete(queue)

    # The machine with the run

    def shop(self, **more: Any) -> Shop:
        """A run whose models are those of this test's own vendor."""
        shop = in_review(self.folder / "shop", **more)
        path = shop.run / "config.md"
        path.write_text(path.read_text().replace("vendor: claude", f"vendor: {self.vendor}"))
        shop.commit("another vendor")
        return shop

    def environment(self, home: str, **more: str) -> dict[str, str]:
        place = self.folder / home
        place.mkdir(exist_ok=True)
        own = {
            "HOME": str(place),
            "XDG_CONFIG_HOME": str(place / "config"),
            "XDG_STATE_HOME": str(place / "state"),
            "QRSPI_BROKER_URL": self.broker.url,
        }
        return {**os.environ, **own, **more}

    def engine(self, shop: Shop, *words: str, **more: str) -> Program:
        """As far as workers can take the run, unless other words are given."""
        command = list(words) or ["next", "--dispatch", "--executor", "celery"]
        program = Program(
            command, self.folder / "logs", self.environment("engine", **more), cwd=shop.root
        )
        self._started.append(program)
        return program

    # The machines with the keys

    def agent(self, answer: str = "NO_FINDINGS", name: str = "agent") -> Path:
        """It writes down that it was called, and by whom, then waits for leave."""
        script = (
            f"cat > {self.folder}/prompt-$$; echo $PPID $QRSPI_MODEL >> {self.folder}/calls\n"
            f"while ! [ -e {self.folder}/go ]; do sleep 0.02; done\nprintf %s '{answer}'"
        )
        return trap(self.folder / name, script)

    def go(self) -> None:
        (self.folder / "go").touch()

    def calls(self) -> list[int]:
        """The worker of each call so far."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [int(line.split()[0]) for line in lines]

    def prompts(self) -> list[str]:
        return [file.read_text() for file in sorted(self.folder.glob("prompt-*"))]

    def settings(self, home: str = "worker", **more: Any) -> None:
        argv = more.pop("argv", [str(self.folder / "agent")])
        lines = [f"[commands.{self.vendor}]", f"argv = {json.dumps(argv)}"]
        lines.append(f"models = {json.dumps(more.pop('models', list(MODELS)))}")
        lines += [f"{key} = {json.dumps(value)}" for key, value in more.items()]
        file = self.folder / home / "config/qrspi/worker.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")

    def worker(self, home: str = "worker", concurrency: int = 2, **more: str) -> Program:
        """Back when the broker knows it."""
        before = self.consumers()
        if not (self.folder / home / "config").exists():
            self.settings(home)
        words = ["worker", "--concurrency", str(concurrency)]
        env = self.environment(home, **more)
        program = Program(words, self.folder / "logs", env, cwd=self.folder)
        self._started.append(program)

        def serves() -> bool:
            assert program.poll() is None, program.said()
            return self.consumers() > before

        until(serves, "the worker serves", LIMIT)
        return program

    def consumers(self) -> int:
        standing = self.broker.standing(queues.of_vendor(self.vendor).name)
        return standing.consumers if standing else 0

    def until_called(self, times: int) -> None:
        until(lambda: len(self.calls()) >= times, f"{times} calls", LIMIT)
