# A public header without C++20: the compiler's only error says what to do. Headers that compile without it may.

file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/tessera/*.hpp ${INCLUDE}/tessera/*/*.hpp)
list(FILTER headers EXCLUDE REGEX "/detail/")
list(FILTER headers EXCLUDE REGEX "/(eigen|xtensor)[.]hpp$") # these begin with their libraries' headers
file(MAKE_DIRECTORY ${WORK})

# errors(<compiler> <header> <count>): how many errors there are; the test stops where one of them is another one.
function(errors compiler header count)
  file(WRITE ${WORK}/program.cpp "#include <${header}>\nint main() { return 0; }\n")
  execute_process(COMMAND ${compiler} -std=c++17 -fsyntax-only -I ${INCLUDE} ${WORK}/program.cpp
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX MATCHALL "error: [^\n]*" found "${output}")
  string(REGEX MATCHALL "error: [^\n]*Tessera needs C[+][+]20: add -std=c[+][+]20" wanted "${output}")
  list(LENGTH found all)
  list(LENGTH wanted known)
  if(NOT all EQUAL known OR all GREATER 1)
    message(FATAL_ERROR "${compiler} -std=c++17 says of <${header}>; it should include <tessera/detail/cxx20.hpp> before "
      "anything that needs C++20:\n${output}")
  endif()
  set(${count} ${all} PARENT_SCOPE)
endfunction()

set(stopped 0)
foreach(header IN LISTS headers)
  errors(${CXX} ${header} count)
  math(EXPR stopped "${stopped} + ${count}")
endforeach()
list(LENGTH headers all)
if(stopped LESS 40)
  message(FATAL_ERROR "only ${stopped} of ${all} headers ask for C++20")
endif()
foreach(name g++ clang++)
  unset(compiler CACHE)
  find_program(compiler ${name})
  if(compiler)
    errors(${compiler} tessera/tessera.hpp count)
    if(count EQUAL 0)
      message(FATAL_ERROR "${compiler} -std=c++17 compiles tessera/tessera.hpp")
    endif()
  endif()
endforeach()
