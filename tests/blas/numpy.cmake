# An unchanged NumPy program with the drop-in in front of its BLAS.
execute_process(COMMAND ${PYTHON} -c "import numpy" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message("skipped: ${PYTHON} has no numpy (Debian package python3-numpy)")
  return()
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env LD_PRELOAD=${PRELOAD} TESSERA_LOG=dispatch TESSERA_BACKEND=openmp ${PYTHON} ${SCRIPT}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE log)
foreach(needed "gemm f32 strict m=123 n=65 k=77: openmp/" "gemm f64 strict m=123 n=65 k=77: openmp/")
  string(FIND "${log}" "${needed}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "the log lacks '${needed}':\n${log}\n${out}")
  endif()
endforeach()
if(NOT status EQUAL 0 OR NOT out MATCHES "numpy is right")
  message(FATAL_ERROR "status ${status}\n${out}\n${log}")
endif()
