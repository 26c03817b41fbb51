"""What a type checker has to know of tables."""

from __future__ import annotations

from typing import Tuple

import hwt
from typing_extensions import assert_type

with hwt.open(hwt.example()) as trace:
    table: hwt.Table = trace.report()
    assert_type(trace.events().head(3), hwt.Table)
    assert_type(table.sort("calls").head(), hwt.Table)
    assert_type(table.columns, Tuple[str, ...])

hwt.Table([1])  # type: ignore[call-arg]
