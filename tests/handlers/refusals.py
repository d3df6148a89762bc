"""What is raised where something must be refused, to be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from qrspi.core.errors import Halt, Refusal


def refusal(act: Callable[..., object], *args: Any, **kwargs: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act(*args, **kwargs)
    return caught.value


def halt(act: Callable[..., object], *args: Any, **kwargs: Any) -> Halt:
    with pytest.raises(Halt) as caught:
        act(*args, **kwargs)
    return caught.value
