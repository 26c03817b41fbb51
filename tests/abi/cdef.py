"""Check that CFFI can parse the public headers.

usage: cdef.py ROOT CC
"""

import sys

from public_api import Api

SKIP = 77


def main(argv):
    try:
        import cffi
    except ImportError:
        print("no cffi: skipped")
        return SKIP
    api = Api(argv[1], argv[2])
    ffi = cffi.FFI()
    ffi.cdef(api.cdef)
    failed = 0
    for name in api.structs():
        if not ffi.typeof(f"struct {name}").fields:
            print(f"struct {name} has no fields")
            failed += 1
    if ffi.sizeof("struct hwtd_event") != 64:
        print("struct hwtd_event is not 64 bytes")
        failed += 1
    print(f"{len(api.structs())} structs, {len(api.functions())} functions")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
