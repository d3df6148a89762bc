"""Which file systems tell of changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from qrspi.world.files.mounts import gives_events, kind_of

TABLE = b"""\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:25 / /proc rw,nosuid - proc proc rw
40 22 0:44 / /home rw shared:1 - nfs4 server:/home rw,vers=4.2
41 40 254:1 / /home/ada/local rw - xfs /dev/vdb rw
50 22 0:51 / /mnt/with\\040space rw - cifs //server/share rw
51 22 0:52 / /mnt/sshfs rw - fuse.sshfs ada@server: rw
52 22 0:53 / /mnt/disk rw - fuseblk /dev/sdb1 rw
60 22 0:60 / /data rw - ext4 /dev/vdc rw
61 60 0:61 / /data rw - 9p host rw,trans=virtio
no mount at all
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/work/docs/qrspi", "ext4"),
        ("/home", "nfs4"),
        ("/home/ada/docs", "nfs4"),
        ("/home/ada/local", "xfs"),
        ("/home/ada/locality", "nfs4"),
        ("/homes", "ext4"),
        ("/mnt/with space/docs", "cifs"),
        ("/data/docs", "9p"),
    ],
)
def test_the_nearest_mount_counts_and_of_two_on_one_place_the_last(path: str, kind: str) -> None:
    assert kind_of(path.encode(), TABLE.split(b"\n")) == kind


@pytest.mark.rule("DMN-07")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("ext4", True),
        ("btrfs", True),
        ("tmpfs", True),
        ("overlay", True),
        ("nfs", False),
        ("nfs4", False),
        ("cifs", False),
        ("smb3", False),
        ("9p", False),
        ("fuse", False),
        ("fuseblk", False),
        ("fuse.sshfs", False),
        ("virtiofs", False),
    ],
)
def test_where_others_write_nothing_is_told(tmp_path: Path, kind: str, told: bool) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 254:0 / / rw - {kind} some rw\n")
    assert gives_events(str(tmp_path), str(table)) is told


def test_without_a_table_events_are_hoped_for(tmp_path: Path) -> None:
    assert gives_events(str(tmp_path), str(tmp_path / "absent"))
