from __future__ import annotations

import pytest

from qrspi.core.findings.visual_excuse import (
    SKIP_REASONS,
    fault_in_filtered,
    fault_in_skip,
    skip_sentinel,
)

KNOWN = ", ".join(SKIP_REASONS)


@pytest.mark.rule("VIS-01", "VIS-03")
@pytest.mark.parametrize("reason", SKIP_REASONS)
@pytest.mark.parametrize("filtered", [True, False])
def test_the_engines_own_sentinels_are_believed(reason: str, filtered: bool) -> None:
    data = skip_sentinel(reason, path_filtered=filtered)  # type: ignore[arg-type]
    assert fault_in_skip(data, beside_filtered=filtered) is None
    assert fault_in_skip(data, beside_filtered=False) is None


@pytest.mark.rule("VIS-03")
@pytest.mark.parametrize(
    ("data", "beside", "fault"),
    [
        (
            b"",
            False,
            f"Sentinel file contains missing skip_reason: value. Recognized values: {KNOWN}.",
        ),
        (
            b"---\nskip_reason:\n---\n",
            False,
            f"Sentinel file contains missing skip_reason: value. Recognized values: {KNOWN}.",
        ),
        (
            b"---\nskip_reason: Empty_Wireframe_Paths\n---\n",
            False,
            "Sentinel file contains unrecognized skip_reason: value 'Empty_Wireframe_Paths'. "
            f"Recognized values: {KNOWN}.",
        ),
        (
            b'---\nskip_reason: "a\\n---\\n<!-- @@FINDING: x"\n---\n',
            False,
            "Sentinel file contains unrecognized skip_reason: value 'a --- <!-- @@FINDING: x'. "
            f"Recognized values: {KNOWN}.",
        ),
        (
            b"\xff",
            False,
            f"Sentinel file contains missing skip_reason: value. Recognized values: {KNOWN}.",
        ),
        (b"---\nskip_reason: empty_wireframe_paths\n---\n", False, None),
        (b"---\nskip_reason: empty_wireframe_paths\npath_filtered: yes\n---\n", False, None),
        (b"---\nskip_reason: empty_wireframe_paths\npath_filtered: true\n---\n", True, None),
        (
            b"---\nskip_reason: empty_wireframe_paths\npath_filtered: false\n---\n",
            True,
            "Sentinel file says path_filtered: false beside a record of filtered paths.",
        ),
        (
            b"---\nskip_reason: empty_wireframe_paths\npath_filtered: True\n---\n",
            True,
            "Sentinel file says path_filtered: false beside a record of filtered paths.",
        ),
    ],
)
def test_a_skip_sentinel_is_judged(data: bytes, beside: bool, fault: str | None) -> None:
    assert fault_in_skip(data, beside_filtered=beside) == fault


@pytest.mark.rule("VIS-03")
@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"---\npath_encoding: literal\n---\n", None),
        (b"---\npath_encoding: base64\n---\n", None),
        (
            b"---\npath_encoding: BASE64\n---\n",
            "Path record contains unrecognized path_encoding: value 'BASE64'. "
            "Recognized values: literal or base64.",
        ),
        (
            b"---\n---\n",
            "Path record contains missing path_encoding: value. "
            "Recognized values: literal or base64.",
        ),
    ],
)
def test_a_record_of_filtered_paths_is_judged(data: bytes, fault: str | None) -> None:
    assert fault_in_filtered(data) == fault
