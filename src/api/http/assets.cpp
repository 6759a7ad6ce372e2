#include "api/http/assets.h"

#include <openapi.json.h>  // made by tools/openapi_json.py

// .incbin costs the compiler nothing, whatever the size of the file.
#define HOLDPOINT_ASSET(name, path)                                                               \
    asm(".section .rodata\n" #name "_begin:\n.incbin \"" path "\"\n" #name "_end:\n.previous\n"); \
    extern "C" const char name##_begin[], name##_end[]

HOLDPOINT_ASSET(holdpoint_openapi_json, HOLDPOINT_OPENAPI_JSON);

namespace holdpoint::api {
namespace {

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view asset_openapi_json() {
    return between(holdpoint_openapi_json_begin, holdpoint_openapi_json_end);
}

}  // namespace holdpoint::api
