# Configures the example with FetchContent of docs/cmake.md, with this checkout for Tessera, and looks at what the build
# would do and at what became of the parent's cache. With BUILD_IT it builds the example with the reference backend alone
# and without the packages that the library can do without, which takes minutes.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(COPY ${EXAMPLES}/ DESTINATION ${WORK}/examples)
set(compilers -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_C_COMPILER=${CC})
set(tessera -D FETCHCONTENT_SOURCE_DIR_TESSERA=${SOURCE} -D FETCHCONTENT_FULLY_DISCONNECTED=ON -D TESSERA_CUDA=OFF -D TESSERA_MPI=OFF)

# configure(<folder> <argument>...): configures examples/<folder> in ${WORK}/<folder>.
function(configure folder)
  run(COMMAND ${CMAKE_COMMAND} -S ${WORK}/examples/${folder} -B ${WORK}/${folder} ${compilers} ${ARGN})
endfunction()

# read_cache(<folder> <prefix> <names>): the entries of the cache that a user may set, as variables with this prefix.
function(read_cache folder prefix names)
  file(STRINGS ${WORK}/${folder}/CMakeCache.txt lines REGEX "^[A-Za-z_0-9]+:(BOOL|STRING|PATH|FILEPATH|UNINITIALIZED)=")
  set(found "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^:]+):[A-Z]+=(.*)" line "${line}")
    list(APPEND found ${CMAKE_MATCH_1})
    set(${prefix}${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  set(${names} ${found} PARENT_SCOPE)
endfunction()

if(BUILD_IT)
  if(NOT DEFINED ENV{TESSERA_TEST_ALL})
    message("skipped: it builds libtessera; TESSERA_TEST_ALL=1 in the environment runs it")
    return()
  endif()
  configure(fetch_content ${tessera} -D TESSERA_OPENMP=OFF -D TESSERA_TBB=OFF -D TESSERA_XTENSOR=OFF -D TESSERA_JSON=OFF
            -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER})
  run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/fetch_content --target program)
  run(COMMAND ${WORK}/fetch_content/program OUTPUT output)
  expect("${output}" "‖a·aᵀ‖ = [0-9]" "the example printed something else")
  set(lib ${WORK}/fetch_content/_deps/tessera-build/lib)
  run(COMMAND ${CXX} -std=c++20 -I ${SOURCE}/include ${CMAKE_CURRENT_LIST_DIR}/without_packages.cpp
      -o ${WORK}/without_packages -L ${lib} -ltessera -Wl,-rpath,${lib})
  run(COMMAND ${WORK}/without_packages OUTPUT output)
  message("${output}")
  return()
endif()

configure(fetch_content ${tessera} -D CMAKE_INSTALL_PREFIX=/usr)

# A target that links tessera::tessera brings the plug-ins, and nothing that it does not need.
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/fetch_content --target program -- -n OUTPUT plan)
foreach(backend OPENMP TBB)
  string(TOLOWER ${backend} name)
  if(${backend})
    expect("${plan}" "libtessera_${name}[.]so" "building the program does not build the plug-in ${name}")
  endif()
endforeach()
if(plan MATCHES "gemm_compare|tessera_blas")
  message(FATAL_ERROR "building the program builds ${CMAKE_MATCH_0} too:\n${plan}")
endif()
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/fetch_content --target help OUTPUT targets)
if(targets MATCHES "uninstall")
  message(FATAL_ERROR "a project around Tessera gets Tessera's target uninstall")
endif()

# Where the loader looks by itself a program needs no rpath.
file(READ ${WORK}/fetch_content/_deps/tessera-build/tessera.pc description)
if(description MATCHES "rpath")
  message(FATAL_ERROR "tessera.pc for /usr has an rpath:\n${description}")
endif()

# The parent's cache: nothing of it is changed, and what is new has Tessera's name or a package's.
file(WRITE ${WORK}/examples/alone/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(program LANGUAGES CXX)\n")
configure(alone -D CMAKE_INSTALL_PREFIX=/usr)
read_cache(alone alone_ alone)
read_cache(fetch_content with_ with)
foreach(name IN LISTS alone)
  if(NOT "${alone_${name}}" STREQUAL "${with_${name}}")
    message(FATAL_ERROR "Tessera changes the parent's ${name} from '${alone_${name}}' to '${with_${name}}'")
  endif()
endforeach()
list(REMOVE_ITEM with ${alone})
set(packages "OpenMP|TBB|MPI|CUDA|CUDAToolkit|Python|PKG_CONFIG|pkgcfg|xtensor|xtl|xsimd|nlohmann_json")
list(FILTER with EXCLUDE REGEX "^(TESSERA|FETCHCONTENT|${packages})_")
list(FILTER with EXCLUDE REGEX "^(PKG_CONFIG_EXECUTABLE|CMAKE_INSTALL_[A-Z]*DIR)$") # of GNUInstallDirs
if(with)
  message(FATAL_ERROR "Tessera leaves these in the parent's cache: ${with}")
endif()

# A parent that has enabled C alone, and an absolute folder for libraries
file(READ ${EXAMPLES}/fetch_content/CMakeLists.txt lists)
string(REPLACE "LANGUAGES CXX" "LANGUAGES C" lists "${lists}")
string(REPLACE "program.cpp" "program.c" lists "${lists}")
file(WRITE ${WORK}/examples/in_c/CMakeLists.txt "${lists}")
configure(in_c ${tessera} -D CMAKE_INSTALL_LIBDIR=/somewhere/lib -D CMAKE_INSTALL_PREFIX=/elsewhere)
file(READ ${WORK}/in_c/_deps/tessera-build/tessera.pc description)
foreach(line "prefix=/elsewhere" "libdir=/somewhere/lib" "includedir=[$]{prefix}/include" "-Wl,-rpath,[$]{libdir}")
  expect("${description}" "${line}" "tessera.pc for an absolute CMAKE_INSTALL_LIBDIR")
endforeach()
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/in_c --target program -- -n OUTPUT plan)
expect("${plan}" "libtessera[.]so" "building the program in C does not build libtessera")
