# Runs PROGRAM with its ARGUMENTS alone and with the drop-in LIBRARY before its BLAS: both times it has to print EXPECTED.
# CHECK says whether the program can run here, and FROM where it comes from.
execute_process(COMMAND ${PROGRAM} ${CHECK} RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message("skipped: ${PROGRAM} ${CHECK} fails (${FROM})")
  return()
endif()
foreach(library "" "${LIBRARY}")
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../../support/preloaded.sh "${library}" ${PROGRAM} ${ARGUMENTS}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0 OR NOT out MATCHES "${EXPECTED}")
    message(FATAL_ERROR "with '${library}': status ${status}\n${out}\n${err}")
  endif()
endforeach()
