#pragma once

#include <string>
#include <string_view>

#include "api/http/answers.h"

namespace holdpoint::api {

/// Answers with `{"NAME": […]}`, each item written by `to_json`, or with why there is no list.
template <class Items, class ToJson>
void respond_list(const CallPtr& call, std::string_view name, const Result<Items>& items,
                  ToJson to_json) {
    if (!items) return respond_error(call, items.error());
    std::string out = "{\"";
    out += name;
    out += "\":[";
    const std::size_t begin = out.size();
    for (const auto& item : *items) {
        if (out.size() > begin) out += ',';
        out += to_json(item);
    }
    respond_json(call, out + "]}");
}

}  // namespace holdpoint::api
