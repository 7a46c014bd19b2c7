# Runs PROGRAM in an environment with SETTING, which is no number of threads: it has to succeed and to warn once.
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=TESSERA_NUM_THREADS ${SETTING} ${PROGRAM}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE log)
string(REGEX MATCHALL "tessera: [A-Z_]+_NUM_THREADS = '[^']*' is not a number of threads and is ignored" warnings "${log}")
list(LENGTH warnings count)
if(NOT status EQUAL 0 OR NOT count EQUAL 1)
  message(FATAL_ERROR "status ${status}, ${count} warnings\n${out}\n${log}")
endif()
