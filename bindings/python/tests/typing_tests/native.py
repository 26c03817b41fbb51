"""The compiled module: names and numbers of arguments are checked."""

from typing_extensions import assert_type

from hwt._hwtdecode import CData, ffi, lib

assert_type(lib.HWTD_E_INVALID, int)
assert_type(lib.hwtd_version(), CData)
assert_type(lib.hwtd_trace_close(ffi.NULL), None)
assert_type(ffi.sizeof("int"), int)

lib.hwtd_verison()  # type: ignore[attr-defined]
lib.HWTD_E_INVALIDD  # type: ignore[attr-defined]
lib.hwtd_trace_close()  # type: ignore[call-arg]
lib.hwtd_trace_close(ffi.NULL, ffi.NULL)  # type: ignore[call-arg]
lib.hwtd_code_text("text")  # type: ignore[arg-type]
