#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "core/request.h"

namespace holdpoint::wire {

/// Writes one JSON object member by member, straight into the answer's buffer. Objects and arrays
/// inside are written by the caller after name().
class ObjectWriter {
  public:
    explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

    std::string& name(std::string_view name) {
        // In one piece: a resource has sixty names, and every append looks at the capacity.
        const std::size_t begin = out_.size();
        const std::size_t end = begin + name.size() + (is_first_ ? 3 : 4);
        out_.resize_and_overwrite(end, [&](char* text, std::size_t) {
            char* at = text + begin;
            if (!is_first_) *at++ = ',';
            *at++ = '"';
            at = std::copy(name.begin(), name.end(), at);
            *at++ = '"';
            *at = ':';
            return end;
        });
        is_first_ = false;
        return out_;
    }
    void text(std::string_view key, std::string_view value) {
        json::append_quoted(name(key), value);
    }
    /// An empty text is null.
    void text_or_null(std::string_view key, std::string_view value) {
        if (value.empty())
            raw(key, "null");
        else
            text(key, value);
    }
    /// A word that needs no escaping.
    void word(std::string_view key, std::string_view value) {
        name(key) += '"';
        out_ += value;
        out_ += '"';
    }
    void raw(std::string_view key, std::string_view json) { name(key) += json; }
    void json(std::string_view key, const core::JsonText& json) {
        raw(key, json.is_null() ? std::string_view("null") : std::string_view(json.text));
    }
    void number(std::string_view key, std::int64_t value) { name(key) += std::to_string(value); }
    void boolean(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
    void time(std::string_view key, Timestamp value) {
        name(key) += '"';
        append_timestamp(out_, value);
        out_ += '"';
    }
    void time(std::string_view key, const std::optional<Timestamp>& value) {
        if (value)
            time(key, *value);
        else
            raw(key, "null");
    }
    void texts(std::string_view key, const std::vector<std::string>& values);
    void close() { out_ += '}'; }

  private:
    std::string& out_;
    bool is_first_ = true;
};

}  // namespace holdpoint::wire
