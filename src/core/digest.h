#pragma once

#include <string>
#include <string_view>

#include "core/request.h"

namespace holdpoint::core {

/// `sha256:<hex>` over a domain prefix and the canonical form of everything that gives the request
/// its meaning: agent, kind, tool and arguments (or plan, question, …), and the deadline it was
/// proposed with. The agent's prose is left out. Decisions are bound to this.
std::string digest_of(const Request& request);

/// Six digits that a person types to approve what asks for it. They come from the digest, so they
/// prove which version was read; they are no secret, and no credential.
std::string confirmation_code(std::string_view digest);

}  // namespace holdpoint::core
