"""Exceptions as a type checker sees them."""

from typing import Optional

from typing_extensions import assert_type

import hwt

try:
    version = hwt.library_version()
    assert_type(version, str)
except hwt.CorruptTraceError as error:
    assert_type(error.code, int)
    assert_type(error.offset, Optional[int])
    assert_type(error.address, Optional[int])
    assert_type(error.file, Optional[str])
    assert_type(error.message, str)
except hwt.TraceIOError as failure:
    assert_type(failure.errno, Optional[int])

assert_type(hwt.__version__, str)

wrong: int = hwt.library_version()  # type: ignore[assignment]
hwt.HwtError(message=3)  # type: ignore[arg-type]
hwt.no_such_name  # type: ignore[attr-defined]
