# `cmake --install` copies a relocatable tree with headers, library, plug-ins, programs and package config.
# tessera_add_plugin installs the plug-ins. With the component `bundle` the tree also runs on machines without the
# packages that Tessera needs, on any distribution whose C library is as new as the build machine's. The components
# library, cuda, opencl, development, tools and blas are the Debian packages of cmake/debian.

include(CMakePackageConfigHelpers)

install(DIRECTORY include/tessera include/deprecated/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS tessera EXPORT tesseraTargets RUNTIME_DEPENDENCY_SET tessera_needs
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)

foreach(program gemm_compare tessera_info)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME_DEPENDENCY_SET tessera_needs
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    install(FILES apps/${program}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT manuals)
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/tesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/tesseraConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tesseraConfig.cmake ${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake
              cmake/TesseraKernels.cmake
        DESTINATION ${package_dir} COMPONENT development)
install(PROGRAMS cmake/tessera_nvcc.sh cmake/tessera_spirv.sh DESTINATION ${package_dir} COMPONENT development)

# pkg-config finds the prefix from where tessera.pc lies. An absolute folder stays where it is.
set(TESSERA_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(TESSERA_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  set(TESSERA_PC_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(TESSERA_PC_${folder} "${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
# A program finds the library in a prefix by its rpath. In a folder of the system it needs none, and Debian forbids one.
set(TESSERA_PC_RPATH " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_FULL_LIBDIR IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(TESSERA_PC_RPATH "")
endif()
foreach(description tessera tessera-c)
  configure_file(cmake/${description}.pc.in ${PROJECT_BINARY_DIR}/${description}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${description}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

if(NOT TESSERA_DEBIAN_PACKAGES) # these have a file `copyright` of their own
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/tessera COMPONENT library)
endif()

# `cmake --build BUILD --target uninstall` removes what `cmake --install BUILD` has copied. A project around this one
# may have a target of that name.
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    COMMENT "Removing what was installed" USES_TERMINAL VERBATIM)
endif()

# The component `bundle` has the test programs for another machine, and every shared library except the C library and
# its loader, which belong to the machine.
# The target `tessera_bundle` builds what both installs copy, and none of the other tests.
add_custom_target(tessera_bundle DEPENDS tessera tessera_backends)
foreach(program tessera_blas tessera_blas64 gemm_compare gemm_judge gemm_bench tessera_info)
  if(TARGET ${program})
    add_dependencies(tessera_bundle ${program})
  endif()
endforeach()
foreach(program tessera_conformance tessera_cuda_device tessera_cuda_faults tessera_cuda_stress tessera_cuda_copy_speed)
  if(TARGET ${program})
    add_dependencies(tessera_bundle ${program})
    install(TARGETS ${program} RUNTIME_DEPENDENCY_SET tessera_needs
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bundle EXCLUDE_FROM_ALL)
  endif()
endforeach()
install(RUNTIME_DEPENDENCY_SET tessera_needs
        PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|resolv|util)\\.so" "^ld-linux" "^libcuda\\.so"
        POST_EXCLUDE_REGEXES "/libtessera[^/]*\\.so"
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bundle EXCLUDE_FROM_ALL)
