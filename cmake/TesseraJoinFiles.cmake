# Files of C++ that are compiled eight at a time, because reading headers takes most of the time of compiling them.
# -DCMAKE_UNITY_BUILD=OFF compiles each by itself.

# tessera_join_files(): joins the files of the targets that the calling folder, and the ones below it, make from here
# on. gcc takes a joined file for a header, and warns of what several files put into one unnamed namespace.
macro(tessera_join_files)
  if(NOT tessera_joining_is_given)
    set(CMAKE_UNITY_BUILD ON)
  endif()
  if(CMAKE_UNITY_BUILD)
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endmacro()
