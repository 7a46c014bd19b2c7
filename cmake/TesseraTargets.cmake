# This file holds the flags that all of Tessera's own code is compiled with, and the function that adds a plug-in.

add_library(tessera_flags INTERFACE)
# The compiler fuses a product and a sum only where the code says fma, because the bits depend on it.
target_compile_options(tessera_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-math-errno -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-psabi>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TESSERA_WERROR}>>:-Werror>)
# Clang, all of 16 to 22, forgets to define a constructor that only clones of a function use (TESSERA_FMA_CLONES), where
# it wanted to replace it with an alias.
target_compile_options(tessera_flags INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -mno-constructor-aliases>")
# A library or plug-in that lacks a symbol does not link. A sanitizer's symbols are in the program that loads it.
set(tessera_whole_library_options "")
if(NOT TESSERA_SANITIZE)
  set(tessera_whole_library_options LINKER:--no-undefined)
endif()
target_link_options(tessera_flags INTERFACE
  "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:${tessera_whole_library_options}>")

# These build the plug-ins and nothing else, for a build of one program: all plug-ins, or the processor's alone.
add_custom_target(tessera_backends)
add_custom_target(tessera_processor_backends)

# tessera_add_plugin(<name> <sources>...) adds the module libtessera_<name>.so. It lies beside libtessera in the build
# tree and in <libdir>/tessera when installed.
function(tessera_add_plugin name)
  add_library(tessera_${name} MODULE ${ARGN})
  target_link_libraries(tessera_${name} PRIVATE tessera tessera_flags)
  target_link_options(tessera_${name} PRIVATE ${tessera_whole_library_options})
  set_target_properties(tessera_${name} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/..")
  add_dependencies(tessera_backends tessera_${name})
  if(NOT tessera_${name}_DEVICE)
    add_dependencies(tessera_processor_backends tessera_${name})
  endif()
  set(component library)
  if(tessera_${name}_COMPONENT)
    set(component ${tessera_${name}_COMPONENT})
  endif()
  install(TARGETS tessera_${name} RUNTIME_DEPENDENCY_SET tessera_needs
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera COMPONENT ${component})
endfunction()

# tessera_require_files(<file>...): stops the configuration where a file is missing whose path carries a setting; a
# source property of a path that does not exist has no effect and no warning.
function(tessera_require_files)
  foreach(file ${ARGN})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${file} does not exist, but this CMakeLists.txt has settings for it")
    endif()
  endforeach()
endfunction()
