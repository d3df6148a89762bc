"""The pictures of the documentation: docs/page/*.png, taken in Chromium of a project that is made
for it. Needs Playwright's package and Debian's chromium.

    python tools/screenshots.py
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import showcase
from playwright.sync_api import sync_playwright

from qrspi.world.machine import clock

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "page"
LARGEST = 150 * 1024


class Picture(NamedTuple):
    name: str
    address: str
    scheme: str
    width: int
    height: int


PICTURES = (
    Picture("board", "/", "light", 1120, 760),
    Picture("gate", f"/runs/{showcase.WAITING}/design", "light", 1120, 760),
    Picture("round", f"/runs/{showcase.WAITING}/design/rounds/2", "dark", 1120, 760),
    Picture("phone", f"/runs/{showcase.PAUSED}", "dark", 360, 720),
)


def main() -> int:
    with TemporaryDirectory() as folder:
        project = showcase.build().rename(Path(folder) / "shop")
        with serving(project) as url, sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            sizes = {picture.name: take(browser, url, picture) for picture in PICTURES}
            browser.close()
    for name, size in sizes.items():
        print(f"{FOLDER / name}.png {size / 1024:.0f} KB")
    return int(max(sizes.values()) > LARGEST)


def take(browser: Any, url: str, picture: Picture) -> int:
    base = url.partition("/?")[0]
    size = {"width": picture.width, "height": picture.height}
    context = browser.new_context(base_url=base, viewport=size, color_scheme=picture.scheme)
    page = context.new_page()
    page.goto(url)
    page.wait_for_url(f"{base}/")
    page.goto(picture.address, wait_until="load")
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{picture.name}.png"
    page.screenshot(path=file)
    context.close()
    return file.stat().st_size


@contextmanager
def serving(project: Path) -> Iterator[str]:
    words = [str(showcase.QRSPI), "ui", "--no-open", "--json"]
    env = os.environ | {clock.VARIABLE: showcase.LOOKED_AT}
    process = subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout
    yield json.loads(process.stdout.readline())["url"]
    process.send_signal(signal.SIGTERM)
    process.wait()
    process.stdout.close()


if __name__ == "__main__":
    sys.exit(main())
