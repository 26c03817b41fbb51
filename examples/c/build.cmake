# Installs a build into a folder and builds the examples of it, as a user does.
#
# usage: cmake -DINSTALL=BUILD_DIR -DPREFIX=... -DSOURCE=... -DBUILD=...
#     -DGENERATOR=... -DCC=... -P build.cmake

file(REMOVE_RECURSE ${PREFIX} ${BUILD})
foreach(component library development)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${INSTALL}
    --prefix ${PREFIX} --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}
  -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_C_COMPILER=${CC}
  "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" -DCMAKE_BUILD_TYPE=Release
  COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${BUILD}/CMakeCache.txt found REGEX "^hwtdecode_DIR:PATH=")
if(NOT found MATCHES "=${PREFIX}/")
  message(FATAL_ERROR "another libhwtdecode was found: ${found}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD}
  COMMAND_ERROR_IS_FATAL ANY)
