# The public headers compile after the macros of other headers, give them back, and define none but TESSERA_….

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(folder ${CMAKE_CURRENT_LIST_DIR}/macros)
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/tessera/*.hpp)
list(FILTER headers EXCLUDE REGEX "/(eigen|xtensor|macros_on|macros_off)[.]hpp$")
list(APPEND headers tessera/tessera.h tessera/distributed/tessera_distributed.h tessera/backend/kernel_abi.h)

# What the headers include of the standard library and the system, since macros may spoil those
set(system "")
foreach(header IN LISTS headers)
  file(STRINGS ${INCLUDE}/${header} lines REGEX "^#include <[a-z_/]+(.h)?>")
  list(APPEND system ${lines})
endforeach()
list(FILTER system EXCLUDE REGEX "<(mdspan|mdspan/.*|cuda.*)>")
list(REMOVE_DUPLICATES system)
list(JOIN system "\n" system)

# program(<name> <text>...): writes ${WORK}/<name>.
function(program name)
  list(JOIN ARGN "\n" text)
  file(WRITE ${WORK}/${name} "${text}\n")
endfunction()
function(include_all result)
  list(TRANSFORM ARGN PREPEND "#include <")
  list(TRANSFORM ARGN APPEND ">")
  list(JOIN ARGN "\n" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
include_all(all ${headers})
list(REVERSE headers)
include_all(reversed ${headers})

# Each macro is as it was after the headers.
set(macros "")
foreach(origin systems libraries)
  file(STRINGS ${folder}/poison_of_${origin}.h lines REGEX "^#define ")
  list(APPEND macros ${lines})
endforeach()
set(checks "#define STRING_OF_TEXT(x) #x\n#define STRING_OF(x) STRING_OF_TEXT(x)\n")
foreach(line IN LISTS macros)
  string(REGEX REPLACE "^#define ([A-Za-z_0-9]+) .*" "\\1" name "${line}")
  string(APPEND checks "static_assert(STRING_OF(${name})[0] == '@')\;\n")
endforeach()
program(poisoned.cpp "${system}" "#include \"${folder}/poison.h\"" "${all}" "${checks}")
program(reversed.cpp "${system}" "#include \"${folder}/poison.h\"" "${reversed}")
# What Windows' headers and libstdc++ both know comes before the standard library too.
program(first.cpp "#define min(a, b) ((a) < (b) ? (a) : (b))" "#define max(a, b) ((a) > (b) ? (a) : (b))" "#define small char"
  "#define near" "#define far" "#define ERROR 0" "#define IN" "#define OUT" "#define interface struct" "#define None 0L"
  "#define Status int" "#define emit" "#define slots" "#define signals public" "${reversed}")
program(poisoned.c "#include <stddef.h>\n#include <stdint.h>" "#include \"${folder}/poison.h\""
  "#include <tessera/tessera.h>\n#include <tessera/backend/kernel_abi.h>")

find_compilers(compilers)
foreach(compiler IN LISTS compilers)
  foreach(source poisoned first)
    run(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Werror -I ${INCLUDE} -fsyntax-only ${WORK}/${source}.cpp)
  endforeach()
endforeach()
run(COMMAND ${CXX} -std=c++20 -Wall -Wextra -Werror -I ${INCLUDE} -fsyntax-only ${WORK}/reversed.cpp)
run(COMMAND ${CC} -Wall -Wextra -Werror -I ${INCLUDE} -fsyntax-only ${WORK}/poisoned.c)

# The headers of other libraries that are there
foreach(other "X11/Xlib.h;X11/Xutil.h" "complex.h;tgmath.h;termios.h;sys/sysmacros.h;sys/param.h;sys/ioctl.h" "utility;algorithm;curses.h")
  set(text "")
  foreach(header IN LISTS other)
    string(APPEND text "#if __has_include(<${header}>)\n#include <${header}>\n#endif\n")
  endforeach()
  program(other.cpp "${text}" "${all}")
  run(COMMAND ${CXX} -std=gnu++20 -I ${INCLUDE} -fsyntax-only ${WORK}/other.cpp)
endforeach()
run(COMMAND ${CXX} -std=c++20 -I ${INCLUDE} ${folder}/after_x11.cpp -o ${WORK}/after_x11 -L${LIB} -ltessera -Wl,-rpath,${LIB} ${SANITIZE})
run(COMMAND ${WORK}/after_x11 OUTPUT output)
expect("${output}" "right" "a program with X11's macros")

# Ours
program(system.cpp "${system}")
program(ours.cpp "${system}" "${all}")
foreach(source system ours)
  run(COMMAND ${CXX} -std=c++20 -I ${INCLUDE} -E -dM ${WORK}/${source}.cpp OUTPUT output)
  string(REGEX MATCHALL "#define [A-Za-z_0-9]+" ${source} "${output}")
endforeach()
list(REMOVE_ITEM ours ${system})
list(FILTER ours EXCLUDE REGEX "^#define (TESSERA_[A-Z0-9_]+|_[A-Z_].*)$")
if(ours)
  message(FATAL_ERROR "the public headers define macros without TESSERA_: ${ours}")
endif()
