"""Why the visual reviewer of a task is not sent, and which paths it may not be shown."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import NamedTuple

from qrspi.core import reviewers as matrix
from qrspi.core.artifacts.task_file import VisualCheck
from qrspi.core.findings import visual_excuse as visual
from qrspi.core.findings.visual_excuse import SkipReason
from qrspi.core.text import untrusted_markers as untrusted


class Dropped(NamedTuple):
    """A path that a task names and that no reviewer is shown."""

    path: str
    reason: str


class Sifted(NamedTuple):
    """What is left of a task's paths after each was looked for."""

    wireframes: tuple[str, ...] = ()
    screenshots: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def reason(required: bool, check: VisualCheck | None, sifted: Sifted) -> SkipReason | None:
    """None when the reviewer is sent."""
    if not required:
        return "visual_fidelity_required_false"
    if check is None:
        return "missing_visual_fidelity_check"
    if not sifted.wireframes:
        return "empty_wireframe_paths"
    return None if sifted.screenshots else "empty_screenshot_paths"


def engine_files(why: SkipReason | None, sifted: Sifted) -> Mapping[str, bytes]:
    """The engine's own files of the round, by name."""
    tag = matrix.visual_tag()
    filtered = bool(sifted.dropped)
    files = {}
    if filtered:
        files[f"{tag}.path-filtered.md"] = path_record(sifted.dropped)
    if why:
        files[f"{tag}.skipped.md"] = visual.skip_sentinel(why, path_filtered=filtered)
    return files


def path_record(dropped: tuple[Dropped, ...]) -> bytes:
    """Every dropped path with its reason. One path that could close its markers makes all of
    them base64, since the record has one encoding."""
    encoded = any(untrusted.has_marker(item.path) for item in dropped)
    parts = [f"---\npath_encoding: {'base64' if encoded else 'literal'}\n---\n".encode()]
    for at, item in enumerate(dropped, 1):
        path = item.path.encode("utf-8", "backslashreplace")
        shown = base64.b64encode(path) if encoded else path
        wrapped = untrusted.wrap(shown, f"path-{at:02d}", "UNTRUSTED-PATH")
        parts.append(f"\n{at}. {item.reason}\n\n".encode() + wrapped)
    return b"".join(parts)
