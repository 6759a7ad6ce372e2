#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/request.h"

namespace holdpoint::notify::push {

/// Whether an argument of a tool is not for everybody who passes a lying phone. `path` is its name,
/// and what is inside it behind a dot.
using IsSecret = std::function<bool(std::string_view tool, std::string_view path)>;

/// What a message says of a request.
struct Shown {
    std::string title;
    std::string body;
    /// Everything that a yes would let run stands there, uncut. Only then may the message have
    /// buttons: nobody approves what they were not shown.
    bool is_whole = false;
};

/// Small enough for what phones show of a message. A plan, a long or secret argument, details of a
/// confirmation do not fit; who is told of them opens the page.
Shown show(const core::Request& request, const IsSecret& is_secret);

}  // namespace holdpoint::notify::push
