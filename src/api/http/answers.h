#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "api/http/api.h"
#include "api/http/compress.h"
#include "api/wire/errors.h"
#include "base/json_fields.h"
#include "service/decide.h"

namespace holdpoint::api {

/// What people, keys and devices may be called.
inline constexpr json::TextRule name_rule{.min = 1, .max = 100, .is_one_line = true};

inline bool are_settled(const std::vector<core::RequestPtr>& requests) {
    return std::ranges::all_of(requests, [](const core::RequestPtr& request) {
        return request->state == core::State::settled;
    });
}

/// The answer that shows one request, or a batch of them.
http::Response render(const Shape& shape, const std::vector<core::RequestPtr>& requests);

/// Answers with the request as it stands, or with why nothing came of the call.
void respond_decided(const CallPtr& call, const Result<service::Decided>& decided);

inline void respond_error(const CallPtr& call, const Error& error) {
    call->exchange->respond(wire::to_response(error));
}

inline void respond_json(const CallPtr& call, std::string body, int status = 200) {
    http::Response response;
    response.status = status;
    response.body = std::move(body);
    compress_if_long(call->request, response);
    call->exchange->respond(std::move(response));
}

}  // namespace holdpoint::api
