from __future__ import annotations

import pytest

from tests.cli.conftest import process

pytest.importorskip("mcp")

__all__ = ["process"]
