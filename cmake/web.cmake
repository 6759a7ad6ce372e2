# Builds web/dist with npm when its sources changed, and makes a source file that embeds it.
set(web ${CMAKE_SOURCE_DIR}/web)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/* ${web}/sw/*)
list(FILTER web_sources EXCLUDE REGEX "\\.test\\.tsx?$")
file(GLOB web_settings CONFIGURE_DEPENDS ${web}/*.json ${web}/*.ts ${web}/.npmrc ${web}/index.html
     ${web}/tools/finish_build.mjs)

add_custom_command(
  OUTPUT ${web}/dist/embed.json
  COMMAND ${CMAKE_SOURCE_DIR}/tools/web build
  DEPENDS ${web_sources} ${web_settings} ${CMAKE_SOURCE_DIR}/tools/web ${CMAKE_SOURCE_DIR}/tools/with_node
  COMMENT "Building the web inbox"
  USES_TERMINAL)

set(HOLDPOINT_EMBEDDED_SITE ${CMAKE_BINARY_DIR}/embedded_site.cpp)
add_custom_command(
  OUTPUT ${HOLDPOINT_EMBEDDED_SITE}
  COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/tools/embed_site.py ${web}/dist ${HOLDPOINT_EMBEDDED_SITE}
  DEPENDS ${web}/dist/embed.json ${CMAKE_SOURCE_DIR}/tools/embed_site.py
  COMMENT "Embedding the web inbox")
