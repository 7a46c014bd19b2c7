# run(COMMAND <words>... [DIRECTORY <folder>] [OUTPUT <result>]): runs a command, and stops the test where it fails. The
# result has what the command wrote to both of its streams.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 RUN "" "DIRECTORY;OUTPUT" "COMMAND")
  if(NOT RUN_DIRECTORY)
    set(RUN_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  execute_process(COMMAND ${RUN_COMMAND} WORKING_DIRECTORY ${RUN_DIRECTORY}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN RUN_COMMAND " " command)
    message(FATAL_ERROR "${command}\nfailed: ${result}\n${output}")
  endif()
  if(RUN_OUTPUT)
    set(${RUN_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()

# expect(<text> <regular expression> <sentence>): stops the test where the text does not match.
function(expect text pattern sentence)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${sentence}\nexpected: ${pattern}\nfound:\n${text}")
  endif()
endfunction()

# find_compilers(<result>): the compiler of the build, and clang++ where there is one, which `clang` names then.
function(find_compilers result)
  find_program(clang clang++)
  set(${result} ${CXX})
  if(clang)
    list(APPEND ${result} ${clang})
  endif()
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()

# Programs must find the library by themselves, and CMake the package by what the test names.
foreach(variable LD_LIBRARY_PATH TESSERA_PLUGIN_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH DESTDIR)
  unset(ENV{${variable}})
endforeach()
