#pragma once

#include <string>
#include <vector>

#include "core/request.h"
#include "store/store.h"

namespace holdpoint::wire {

/// The request resource: the same bytes everywhere (REST, events, CLI, later webhooks).
void append_request(std::string& out, const core::Request& request);

/// `confirm` is what has to be typed to approve it; empty where nothing has to be.
void append_requirement(std::string& out, const core::Requirement& requirement,
                        const std::string& confirm);
std::string to_json(const core::Request& request);

/// The timeline of one request.
std::string events_json(const std::vector<store::StoredEvent>& events);

/// One server-sent event, complete with its blank line.
std::string to_sse(const store::Change& change);

/// The event's name on the stream.
std::string_view sse_name(core::EventKind kind);

}  // namespace holdpoint::wire
