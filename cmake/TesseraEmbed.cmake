# tessera_embed(<target> <namespace> <file>...) adds to the target a source that defines, in the namespace, a function
# std::string_view <name>_<extension>() for each file, which returns the file's bytes; a number before the name is left
# out. As a script this file writes one such source.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(tessera_embed_script ${CMAKE_CURRENT_LIST_FILE})
  function(tessera_embed target namespace)
    foreach(file ${ARGN})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/${file}.cpp)
      add_custom_command(OUTPUT ${source}
        COMMAND ${CMAKE_COMMAND} -D input=${CMAKE_CURRENT_SOURCE_DIR}/${file} -D output=${source}
                -D namespace=${namespace} -P ${tessera_embed_script}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${tessera_embed_script} VERBATIM)
      target_sources(${target} PRIVATE ${source})
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
  endfunction()
  return()
endif()

file(READ ${input} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
get_filename_component(name ${input} NAME)
string(REPLACE "." "_" name ${name})
string(REGEX REPLACE "^[0-9]+_" "" name ${name}) # the number of a rung
file(WRITE ${output} "// Generated from ${input}.
#include <string_view>

namespace ${namespace} {

static constexpr unsigned char bytes[] = {
    ${bytes}};

std::string_view ${name}();
std::string_view ${name}() { return {reinterpret_cast<const char*>(bytes), ${size}}; }

} // namespace ${namespace}
")
