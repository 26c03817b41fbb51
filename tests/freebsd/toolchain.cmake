# FreeBSD 15 by way of `zig cc`, which brings headers and symbols of its libc.
#
# Needs HWTDECODE_ZIG (the program), HWTDECODE_ARCH (as zig names it) and
# HWTDECODE_SYSROOT (headers and stubs of other libraries; see cross.py).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HWTDECODE_ZIG HWTDECODE_ARCH
  HWTDECODE_SYSROOT)

set(CMAKE_SYSTEM_NAME FreeBSD)
set(CMAKE_SYSTEM_VERSION 15.0)
set(CMAKE_SYSTEM_PROCESSOR ${HWTDECODE_ARCH})

set(CMAKE_C_COMPILER ${HWTDECODE_ZIG} cc -target
  ${HWTDECODE_ARCH}-freebsd.15.0)
# What zig adds in builds that are not optimized is no part of FreeBSD.
set(CMAKE_C_FLAGS_INIT
  "-ffunction-sections -fdata-sections -fno-sanitize=undefined")
set(CMAKE_C_FLAGS_RELEASE_INIT "-O1")
# An archiver is a program without arguments for CMake; zig's is not.
set(CMAKE_C_ARCHIVE_CREATE
  "\"${HWTDECODE_ZIG}\" ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_APPEND
  "\"${HWTDECODE_ZIG}\" ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_C_ARCHIVE_FINISH "\"${HWTDECODE_ZIG}\" ranlib <TARGET>")

set(CMAKE_FIND_ROOT_PATH ${HWTDECODE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${HWTDECODE_SYSROOT}/libdata/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
