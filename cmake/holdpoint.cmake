# Settings and the three functions every folder uses.
find_package(Threads REQUIRED)
# The parser is called for every value: through a shared library that costs a tenth of its time.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
find_library(CCTZ_LIBRARY cctz REQUIRED)
if(HOLDPOINT_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# Most of what is left is instantiating the same templates in every source: a few sources of a folder are compiled as one.
# They stay sources of their own: lint also reads each alone, and so does a build with this off, which is the better one
# while working on a large folder.
option(HOLDPOINT_UNITY "compile several sources at once" ON)

add_library(holdpoint_options INTERFACE)
target_include_directories(holdpoint_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(holdpoint_options INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  HOLDPOINT_VERSION="${PROJECT_VERSION}")
target_compile_options(holdpoint_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wimplicit-fallthrough
  -fstack-protector-strong -D_GLIBCXX_ASSERTIONS -pthread)
if(NOT HOLDPOINT_UNITY)
  # A local name hides nothing of a source it only shares a compilation with; lint looks for those that do.
  target_compile_options(holdpoint_options INTERFACE -Wshadow)
endif()
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  # It wants an optimised build, which the tests' own sources are not.
  target_compile_options(holdpoint_options INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:HOLDPOINT_QUICK_BUILD>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
target_link_options(holdpoint_options INTERFACE -Wl,-z,relro,-z,now)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_link_options(holdpoint_options INTERFACE -fuse-ld=lld)
endif()
if(HOLDPOINT_SANITIZE)
  target_compile_options(holdpoint_options INTERFACE
    -fsanitize=${HOLDPOINT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
  target_compile_definitions(holdpoint_options INTERFACE HOLDPOINT_SANITIZED)
  target_link_options(holdpoint_options INTERFACE -fsanitize=${HOLDPOINT_SANITIZE})
endif()
if(HOLDPOINT_FUZZ)
  target_compile_options(holdpoint_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Half of a compilation is reading the same large headers again. Sources still include what they use: lint reads what is
# compiled together without this.
option(HOLDPOINT_PCH "read the large headers once" ON)
if(HOLDPOINT_PCH)
  foreach(kind library test)
    if(kind STREQUAL "test" AND NOT HOLDPOINT_TESTS)
      continue()
    endif()
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/pch/${kind}.cpp CONTENT "")
    add_library(holdpoint_pch_${kind} OBJECT ${CMAKE_BINARY_DIR}/pch/${kind}.cpp)
    target_link_libraries(holdpoint_pch_${kind} PRIVATE holdpoint_options Boost::json fmt::fmt)
    # A time inside would make it another file each time, and the compiler's cache useless.
    target_compile_options(holdpoint_pch_${kind} PRIVATE -Xclang -fno-pch-timestamp)
    target_precompile_headers(holdpoint_pch_${kind} PRIVATE
      <algorithm> <array> <chrono> <cstdint> <expected> <functional> <map> <memory> <optional> <ranges> <span>
      <string> <string_view> <unordered_map> <utility> <variant> <vector> <boost/json.hpp> <fmt/format.h>)
  endforeach()
  if(HOLDPOINT_TESTS)
    set_target_properties(holdpoint_pch_test PROPERTIES HOLDPOINT_QUICK_BUILD ON)
    target_compile_options(holdpoint_pch_test PRIVATE -O0 -g0)
    target_link_libraries(holdpoint_pch_test PRIVATE GTest::gmock)
    target_precompile_headers(holdpoint_pch_test PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

# Links, options and sources are as they are; only who is compiled together changes. Two dozen take three quarters of the time of four
# times six; more would leave a core idle.
function(holdpoint_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HOLDPOINT_UNITY} UNITY_BUILD_BATCH_SIZE 24)
endfunction()

# What can be compiled while Node and the browsers are still being installed.
add_custom_target(without_page)

# One library per folder: holdpoint_folder(core LINK holdpoint_base SOURCES open.cpp decide.cpp). What mostly waits for people and for
# servers is COLD: optimised no further than is quickly done.
function(holdpoint_folder name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;LINK" ${ARGN})
  add_library(holdpoint_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(holdpoint_${name} PUBLIC holdpoint_options ${ARG_LINK})
  holdpoint_unite(holdpoint_${name})
  add_dependencies(without_page holdpoint_${name})
  if(ARG_COLD AND CMAKE_BUILD_TYPE MATCHES "Rel")
    target_compile_options(holdpoint_${name} PRIVATE -O1)
  endif()
  if(HOLDPOINT_PCH)
    target_precompile_headers(holdpoint_${name} REUSE_FROM holdpoint_pch_library)
  endif()
endfunction()

# What needs to be built quickly more than it needs to run quickly: tests, examples, and what they start.
function(holdpoint_quick target)
  set_target_properties(${target} PROPERTIES HOLDPOINT_QUICK_BUILD ON)
  target_compile_options(${target} PRIVATE -O0 -g0)
  if(HOLDPOINT_PCH AND HOLDPOINT_TESTS)
    target_precompile_headers(${target} REUSE_FROM holdpoint_pch_test)
  endif()
endfunction()

# Unit tests sit beside the code: holdpoint_test(core LINK ... SOURCES open_test.cpp)
function(holdpoint_test name)
  if(NOT HOLDPOINT_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  holdpoint_unite(${name}_test)
  add_dependencies(without_page ${name}_test)
  holdpoint_quick(${name}_test)
  # Those that try millions of cases must be quick as well.
  set(tries_many ${ARG_SOURCES})
  list(FILTER tries_many INCLUDE REGEX "property_test")
  set_source_files_properties(${tries_many} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# libFuzzer targets: holdpoint_fuzz(json LINK holdpoint_base SOURCES json_fuzz.cpp)
function(holdpoint_fuzz name)
  if(NOT HOLDPOINT_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_fuzz ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_LINK})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
