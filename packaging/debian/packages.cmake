# Packages for Debian, by CPack: cpack -G DEB in a build folder whose prefix is
# /usr, as in the presets "ci" and "package".
#
# Three, since programs that are linked with the library must neither need the
# tool (Zydis, Capstone) nor headers, and since two versions of the library with
# different SONAMEs have to lie beside each other.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hwtdecode)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The libhwtdecode developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)
# Who makes packages for others puts a name here that answers.
set(HWTDECODE_PACKAGER
  "The libhwtdecode developers <maintainers@hwtdecode.example>"
  CACHE STRING "Name and address in packages")
set(CPACK_PACKAGE_CONTACT ${HWTDECODE_PACKAGER})

# Each package has a summary of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET hwtdecode-tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# The number in the name of the library's package is that of the SONAME.
get_target_property(soversion hwtdecode SOVERSION)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libhwtdecode${soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Before 1.0 a minor release may break programs (see CONTRIBUTING.md).
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# A trigger runs ldconfig.  Scripts that CPack would make for that are named, so
# that it makes none, and do not exist, so that there are none.
set(control ${PROJECT_BINARY_DIR}/packaging)
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${control}/triggers
  ${control}/none/postinst ${control}/none/postrm)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
  "Decoding of hardware traces: Intel PT, CoreSight, SPE (library)
libhwtdecode turns the traces that processors write of what they executed
into one stream of events, with the bytes that gave none as gaps that name
their reason. It reads captures of hwt(4) of FreeBSD, of perf of Linux and
raw bytes.")

# A static library and hwtdecode.pc name the libraries below.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhwtdecode-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libipt-dev, libopencsd-dev, \
libelf-dev, libzstd-dev, libjson-c-dev, liblzma-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "Decoding of hardware traces: headers and static library
Headers, static library, pkg-config and CMake files and manual pages for
programs that use libhwtdecode.")

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME hwtdecode-tools)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
# Where the tool's own library is while no package of it is installed.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_COMPONENT_TOOL_DEPENDS library)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
  "Decoding of hardware traces: command-line tool
hwtdecode prints what traces of Intel PT, CoreSight and Arm SPE hold: events,
instructions, calls, profiles, flame graphs, coverage, samples of memory, and
what could not be decoded.")

# For finish.cmake.
set(CPACK_HWTDECODE_SOURCE ${PROJECT_SOURCE_DIR})

include(CPack)
