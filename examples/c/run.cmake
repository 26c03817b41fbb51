# Runs an example: it must end with EXIT, and print what EXPECT matches.
#
# usage: cmake -DEXIT=0 -DEXPECT=REGEX -P run.cmake -- COMMAND...

set(command)
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after)
    list(APPEND command ${CMAKE_ARGV${i}})
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after TRUE)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE status
  OUTPUT_VARIABLE out ERROR_VARIABLE err)
message("${out}${err}")
if(NOT status EQUAL EXIT)
  message(FATAL_ERROR "ended with ${status}, not ${EXIT}")
endif()
if(NOT "${out}${err}" MATCHES "${EXPECT}")
  message(FATAL_ERROR "does not match ${EXPECT}")
endif()
