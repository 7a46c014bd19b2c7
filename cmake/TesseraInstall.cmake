# What `cmake --install` copies: a relocatable tree with headers, library, plug-ins, programs and package config.

install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
