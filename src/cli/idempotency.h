#pragma once

#include <string>

#include "cli/client.h"

namespace holdpoint::cli {

/// A fresh random key for the Idempotency-Key header.
std::string fresh_idempotency_key();

/// A call that changes something, sent again if the answer got lost. Safe because the server does
/// the work of one idempotency key once. Gives up after three tries.
Answer<Reply> call_safely(Client& client, Call call, int interrupt_fd = -1);

}  // namespace holdpoint::cli
