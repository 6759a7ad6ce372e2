#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include <holdpoint/agent.h>

#include "agent/demo/site.h"

namespace holdpoint::agent {

struct DemoOptions {
    std::chrono::milliseconds pause{15'000};  ///< between the beginnings of two conversations
    int conversations_max = 0;                ///< 0: without end
    /// Told what happens, one line at a time.
    std::function<void(const std::string& line)> say;
};

/// Has conversations with scripted models on a small site, a few at the same time: publishing, a
/// refund by a worker, a batch, a question, a page deleted after a yes, a letter, a plan. It reacts
/// to what people decide. `connect` opens a Holdpoint for a new session. Ends when stopped, or with
/// the error of a Holdpoint that cannot be opened.
Result<void> play_demo(const std::function<Result<Holdpoint>(Labels)>& connect,
                       const std::shared_ptr<Site>& site, const DemoOptions& options,
                       const std::stop_token& stop);

}  // namespace holdpoint::agent
