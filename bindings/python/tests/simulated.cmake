# The module on the simulated kernel of tests/simkernel, so that captures are tested
# where no FreeBSD is: the host of the library is that of the tests of the tool.
get_target_property(hwt_source hwt-module SOURCES)
get_target_property(hwt_folder hwt-module SOURCE_DIR)
list(TRANSFORM hwt_source REPLACE "^ffi/" "${hwt_folder}/ffi/")
list(FILTER hwt_source INCLUDE REGEX "\\.c$")
add_library(hwt-module-simulated MODULE ${hwt_source}
  ${PROJECT_SOURCE_DIR}/tests/cli/simulated_host.c)
add_dependencies(hwt-module-simulated hwt-module)
foreach(hwt_file IN LISTS hwt_source)
  if(hwt_file MATCHES "_hwtdecode\\.c$")
    set_source_files_properties(${hwt_file} PROPERTIES GENERATED TRUE
      COMPILE_OPTIONS "-w")
  endif()
endforeach()
target_include_directories(hwt-module-simulated PRIVATE ${hwt_folder}/ffi
  ${PROJECT_SOURCE_DIR}/tests)
target_include_directories(hwt-module-simulated SYSTEM PRIVATE
  ${Python3_INCLUDE_DIRS})
target_compile_definitions(hwt-module-simulated PRIVATE
  Py_LIMITED_API=0x03090000)
target_link_libraries(hwt-module-simulated PRIVATE hwtdecode-simkernel
  hwtdecode-static)
set_target_properties(hwt-module-simulated PROPERTIES PREFIX ""
  OUTPUT_NAME _hwtdecode SUFFIX .abi3.so C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python-simulated)
target_link_options(hwt-module-simulated PRIVATE -Wl,--exclude-libs,ALL)
