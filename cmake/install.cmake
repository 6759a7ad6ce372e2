# What `cmake --install` gives: the program with its manual and completions, and for embedders libholdpoint with its headers, and the files
# for find_package(holdpoint) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive of all folders: whoever links it takes only what it uses.
set(library_folders base core policy store service notify agent api server)
set(library_objects)
foreach(folder ${library_folders})
  list(APPEND library_objects $<TARGET_OBJECTS:holdpoint_${folder}>)
endforeach()
add_library(holdpoint_library STATIC ${library_objects})
set_target_properties(holdpoint_library PROPERTIES
  OUTPUT_NAME holdpoint LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

# Public headers include a few of ours; installed, those stand below holdpoint/ and are named so.
set(installed_include ${CMAKE_BINARY_DIR}/installed_include)
file(GLOB public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/holdpoint/*.h)
function(holdpoint_public_header from to)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from})
  file(READ ${from} text)
  string(REGEX REPLACE "#include \"((base|core)/[a-z_]+\\.h)\"" "#include <holdpoint/\\1>" text "${text}")
  set(target ${installed_include}/holdpoint/${to})
  if(EXISTS ${target})
    file(READ ${target} before)
  endif()
  if(NOT "${text}" STREQUAL "${before}")
    file(WRITE ${target} "${text}")
  endif()
endfunction()
foreach(header ${public_headers})
  get_filename_component(name ${header} NAME)
  holdpoint_public_header(${header} ${name})
endforeach()
foreach(name base/error.h base/result.h core/words.h)
  holdpoint_public_header(${CMAKE_SOURCE_DIR}/src/${name} ${name})
endforeach()

configure_package_config_file(cmake/holdpointConfig.cmake.in ${CMAKE_BINARY_DIR}/holdpointConfig.cmake
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdpoint)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/holdpointConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The prefix is found from where the file lies, so that the installed tree can be moved.
file(RELATIVE_PATH HOLDPOINT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/holdpoint.pc.in ${CMAKE_BINARY_DIR}/holdpoint.pc @ONLY)

install(TARGETS holdpoint RUNTIME COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/holdpoint.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
# The program writes its own completions, so they cannot lag behind; each goes where its shell looks for it.
set(completions ${CMAKE_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
add_custom_command(OUTPUT ${completions}/holdpoint ${completions}/_holdpoint ${completions}/holdpoint.fish
  COMMAND holdpoint completion bash > ${completions}/holdpoint
  COMMAND holdpoint completion zsh > ${completions}/_holdpoint
  COMMAND holdpoint completion fish > ${completions}/holdpoint.fish
  DEPENDS holdpoint VERBATIM)
add_custom_target(holdpoint_completions ALL
  DEPENDS ${completions}/holdpoint ${completions}/_holdpoint ${completions}/holdpoint.fish)
install(FILES ${completions}/holdpoint DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${completions}/_holdpoint DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${completions}/holdpoint.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(TARGETS holdpoint_library ARCHIVE COMPONENT library)
install(DIRECTORY ${installed_include}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/holdpointConfig.cmake ${CMAKE_BINARY_DIR}/holdpointConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/holdpoint COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/holdpoint.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
