#include "notify/log_channel.h"

#include <spdlog/spdlog.h>

#include "base/text.h"

namespace holdpoint::notify {
namespace {

std::string_view words(core::EventKind about) {
    switch (about) {
        case core::EventKind::requested:
            return "waits for a person";
        case core::EventKind::voted:
            return "needs one more decision";
        case core::EventKind::settled:
            return "is settled";
        case core::EventKind::reminded:
            return "still waits for a person";
        case core::EventKind::escalated:
            return "was escalated";
        case core::EventKind::retried:
            return "timed out and is asked again";
        case core::EventKind::extended:
            return "has more time";
        case core::EventKind::reported:
            return "was carried out";
        case core::EventKind::held:
            return "is about to be decided";
        case core::EventKind::undone:
            return "waits again: a decision was taken back";
    }
    return "changed";
}

}  // namespace

const std::string& LogChannel::name() const {
    static const std::string name = "log";
    return name;
}

Result<void> LogChannel::send(core::EventKind about, const core::Request& request) {
    const std::string outcome =
        request.outcome ? " (" + std::string(to_string(*request.outcome)) + ")" : "";
    spdlog::info("{} {}{}: {} from `{}`", request.id.text(), words(about), outcome,
                 request.headline, visible(request.agent));
    return {};
}

}  // namespace holdpoint::notify
