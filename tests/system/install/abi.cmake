# A program that is compiled with another layout of the standard library's types than libtessera does not link, and the
# linker says why; ordinary programs, programs in C, and parts of the headers that need no library do.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

if(SANITIZE)
  message("skipped: the library is built for a sanitizer")
  return()
endif()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(folder ${CMAKE_CURRENT_LIST_DIR}/abi)
set(libtessera -L${LIB} -ltessera -Wl,-rpath,${LIB})

# expect_no_link(<compiler> <words> <flag>...): the program does not link, and each name of the library that it lacks has
# the words.
function(expect_no_link compiler words)
  run(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Werror ${ARGN} -I ${INCLUDE} -c ${folder}/program.cpp -o ${WORK}/program.o)
  execute_process(COMMAND ${compiler} ${ARGN} ${WORK}/program.o -o ${WORK}/program ${libtessera}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "a program that is compiled with ${ARGN} links with a libtessera that was not")
  endif()
  string(REGEX MATCHALL "undefined reference to .tessera::[^\n]*" all "${output}")
  list(LENGTH all count)
  list(FILTER all EXCLUDE REGEX "abi:${words}[]]")
  if(all OR count LESS 5)
    message(FATAL_ERROR "${compiler} ${ARGN}: the linker does not say ${words}:\n${output}")
  endif()
endfunction()

set(needs needs_a_libtessera_built_with)
find_compilers(compilers)
foreach(compiler IN LISTS compilers)
  run(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Werror -D_GLIBCXX_ASSERTIONS -D_GLIBCXX_SANITIZE_VECTOR -I ${INCLUDE}
    ${folder}/program.cpp -o ${WORK}/program ${libtessera})
  run(COMMAND ${WORK}/program OUTPUT output)
  expect("${output}" "sum " "a program with checks that change no layout printed")
  expect_no_link(${compiler} ${needs}_GLIBCXX_USE_CXX11_ABI_0 -D_GLIBCXX_USE_CXX11_ABI=0)
endforeach()
expect_no_link(${CXX} ${needs}_GLIBCXX_DEBUG -D_GLIBCXX_DEBUG -D_GLIBCXX_DEBUG_PEDANTIC)
expect_no_link(${CXX} ${needs}_GLIBCXX_DEBUG_and_GLIBCXX_USE_CXX11_ABI_0 -D_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=0)
if(clang)
  execute_process(COMMAND ${clang} -std=c++20 -stdlib=libc++ -fsyntax-only ${folder}/header_only.cpp -I ${INCLUDE}
                  RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
  if(no_libcxx EQUAL 0)
    expect_no_link(${clang} ${needs}_libcxx -stdlib=libc++)
  endif()
endif()

# What needs no library, a program in C, and a library that is made with the same macros
foreach(flag -D_GLIBCXX_USE_CXX11_ABI=0 -D_GLIBCXX_DEBUG)
  run(COMMAND ${CXX} -std=c++20 ${flag} -I ${INCLUDE} ${folder}/header_only.cpp -o ${WORK}/header_only)
  run(COMMAND ${WORK}/header_only)
  run(COMMAND ${CXX} -std=c++20 ${flag} -D TESSERA_BUILDING_LIBRARY -fPIC -shared -fvisibility=hidden -I ${INCLUDE}
    -I ${INCLUDE}/../src ${STATUS} -o ${WORK}/libstatus.so)
  run(COMMAND ${CXX} -std=c++20 ${flag} -I ${INCLUDE} ${folder}/mistake.cpp -o ${WORK}/mistake ${WORK}/libstatus.so -Wl,-rpath,${WORK})
  run(COMMAND ${WORK}/mistake)
  run(COMMAND ${CC} ${flag} -I ${INCLUDE} ${C_PROGRAM} -o ${WORK}/in_c ${libtessera})
  run(COMMAND ${WORK}/in_c)
endforeach()

# All headers, since a class has its mark in its first declaration or in none
file(GLOB headers RELATIVE ${INCLUDE} ${INCLUDE}/tessera/*.hpp ${INCLUDE}/tessera/*/*.hpp)
list(FILTER headers EXCLUDE REGEX "/(eigen|xtensor|macros_on|macros_off)[.]hpp$")
list(REVERSE headers)
list(JOIN headers ">\n#include <" text)
file(WRITE ${WORK}/headers.cpp "#include <${text}>\n")
foreach(compiler IN LISTS compilers)
  run(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Werror -D_GLIBCXX_USE_CXX11_ABI=0 -I ${INCLUDE} -fsyntax-only ${WORK}/headers.cpp)
endforeach()
foreach(first backend/kernel executor tools)
  string(MD5 key ${first})
  file(WRITE ${WORK}/${key}.cpp "#include <tessera/${first}.hpp>\n#include \"headers.cpp\"\n")
  run(COMMAND ${CXX} -std=c++20 -Wall -Wextra -Werror -D_GLIBCXX_USE_CXX11_ABI=0 -I ${INCLUDE} -fsyntax-only ${WORK}/${key}.cpp)
endforeach()
