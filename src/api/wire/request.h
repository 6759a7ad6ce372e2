#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::wire {

/// Somebody who looks at a request right now.
struct Viewer {
    std::string name;
    Timestamp since;
};
void append_viewers(std::string& out, const std::vector<Viewer>& viewers);

/// What stands beside a request for one person; agents never see it.
struct Aside {
    std::vector<Viewer> viewers;
    std::optional<Timestamp> snoozed_until;
};

/// The request resource: the same bytes everywhere (REST, events, CLI, later webhooks).
void append_request(std::string& out, const core::Request& request, const Aside* aside = nullptr);

/// `confirm` is what has to be typed to approve it; empty where nothing has to be.
void append_requirement(std::string& out, const core::Requirement& requirement,
                        const std::string& confirm);
std::string to_json(const core::Request& request);

/// The timeline of one request.
std::string events_json(const std::vector<store::StoredEvent>& events);

/// One server-sent event, complete with its blank line.
std::string to_sse(const store::Change& change);

}  // namespace holdpoint::wire
