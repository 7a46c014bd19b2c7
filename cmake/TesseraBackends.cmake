# The plug-ins that Tessera ships, in the order of include/tessera/backend_list.hpp. From this list come the options, what
# is built, the wheel, the tests of every backend, and what libtessera says where a plug-in is missing.

set(tessera_plugins "")

# tessera_ships_plugin(<name> <property> <value>...) adds a plug-in, whose sources are in backends/<name>, and its option
# TESSERA_<NAME>. The variables tessera_<name>_<property> keep the properties:
#   TITLE, NEEDS, INSTALL, PURPOSE   the words of a sentence: what the plug-in is for; what must be there to build it; how
#                                    the user gets that; for which users this advice is, or nothing
#   PACKAGE    what find_package() looks up for it; without one, TesseraDependencies.cmake says when it is built
#   SHARES     a folder of backends that it shares with other plug-ins, of the target tessera_<folder>
#   COMPONENT  the install component of its file, which is a Debian package of its own; without one, the library's
#   DEVICE     its memory is not the host's, and its tests need a device
macro(tessera_ships_plugin name)
  cmake_parse_arguments(tessera_${name} "DEVICE" "TITLE;NEEDS;INSTALL;PURPOSE;SHARES;COMPONENT" "PACKAGE" ${ARGN})
  list(APPEND tessera_plugins ${name})
  string(TOUPPER ${name} tessera_${name}_OPTION)
  set(TESSERA_${tessera_${name}_OPTION} AUTO CACHE STRING "Build the ${tessera_${name}_TITLE} plug-in: ON, OFF or AUTO")
  set_property(CACHE TESSERA_${tessera_${name}_OPTION} PROPERTY STRINGS AUTO ON OFF)
endmacro()

tessera_ships_plugin(openmp TITLE "OpenMP" PACKAGE OpenMP COMPONENTS CXX SHARES cpu
  NEEDS "a compiler with OpenMP" INSTALL "install one (Debian: g++)")
tessera_ships_plugin(tbb TITLE "oneTBB" PACKAGE TBB CONFIG SHARES cpu
  NEEDS "oneTBB" INSTALL "install it (Debian: libtbb-dev)")
tessera_ships_plugin(cuda TITLE "CUDA" DEVICE COMPONENT cuda
  NEEDS "nvcc" INSTALL "install the CUDA toolkit (12.8 or later)" PURPOSE "to use an NVIDIA GPU, ")
tessera_ships_plugin(opencl TITLE "OpenCL" DEVICE COMPONENT opencl
  NEEDS "the headers of OpenCL" INSTALL "install them (Debian: opencl-headers)" PURPOSE "to use a device of OpenCL, ")
