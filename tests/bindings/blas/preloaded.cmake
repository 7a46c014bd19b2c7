# Runs an unchanged program with the drop-in in front of its BLAS: PROGRAM SCRIPT. CHECK says whether the program can run
# here, FROM where it comes from, and PRELOAD names the libraries, with | between them. The program has to print `NAME is right`, and the log has to have every line of NEEDED.
execute_process(COMMAND ${PROGRAM} ${CHECK} RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message("skipped: ${PROGRAM} ${CHECK} fails (${FROM})")
  return()
endif()
string(REPLACE "|" ":" libraries "${PRELOAD}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 TESSERA_LOG=dispatch TESSERA_BACKEND=openmp
    ${CMAKE_CURRENT_LIST_DIR}/../../support/preloaded.sh ${libraries} ${PROGRAM} ${SCRIPT}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE log)
string(REPLACE "|" ";" needed "${NEEDED}")
foreach(line ${needed})
  string(FIND "${log}" "${line}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the log lacks '${line}':\n${log}\n${out}")
  endif()
endforeach()
if(NOT status EQUAL 0 OR NOT out MATCHES "${NAME} is right")
  message(FATAL_ERROR "status ${status}\n${out}\n${log}")
endif()
