#include "agent/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/json_value.h"
#include "base/sha256.h"
#include "base/text.h"

namespace holdpoint::agent {
namespace {

Error journal_failed(const std::string& path) {
    return {ErrorCode::unavailable,
            fmt::format("the journal `{}` cannot be used: {}", path, std::strerror(errno))};
}

/// Whether all texts are UTF-8. What is not would be written as something else, and people would
/// decide about that.
bool is_text_only(const json::value& value) {
    if (const boost::json::string* text = value.if_string()) return is_utf8(*text);
    if (const json::array* array = value.if_array())
        return std::ranges::all_of(*array, is_text_only);
    if (const json::object* object = value.if_object())
        return std::ranges::all_of(*object, [](const auto& member) {
            return is_utf8(member.key()) && is_text_only(member.value());
        });
    return true;
}

/// What open() could not read again must not be written: one such line would close the session.
Result<void> readable(const Json& line) {
    const Result<Json> again = Json::parse(line.dump());
    if (!again) return again.error();
    return {};
}

std::vector<std::string> texts(const Json& array) {
    std::vector<std::string> texts;
    for (const Json& item : array.items()) texts.push_back(item.text_or(""));
    return texts;
}

std::string read_all(int file) {
    std::string text;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::read(file, buffer, sizeof buffer);
        if (count <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

}  // namespace

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

Result<void> Journal::open(const std::string& folder, const std::string& session,
                           const std::string& server) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    // Sessions are named by people and models: their names are no names of files.
    const std::string path =
        fmt::format("{}/{}.journal", folder, hex(sha256(session + "\n" + server)).substr(0, 32));
    const std::lock_guard lock(mutex_);
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) return journal_failed(path);
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
        return Error{ErrorCode::unavailable,
                     fmt::format("another process works in session `{}`", session)};
    std::string text = read_all(file_);
    // A line that a crash cut off was never acted upon.
    const std::size_t end = text.rfind('\n');
    const std::size_t whole = end == std::string::npos ? 0 : end + 1;
    if (whole != text.size() && ::ftruncate(file_, static_cast<off_t>(whole)) != 0)
        return journal_failed(path);
    text.resize(whole);
    size_ = static_cast<off_t>(whole);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t line_end = text.find('\n', at);
        const Result<Json> line = Json::parse(std::string_view(text).substr(at, line_end - at));
        if (!line)
            return Error{ErrorCode::unavailable, fmt::format("the journal `{}` is damaged", path)};
        take(*line);
        at = line_end + 1;
    }
    return {};
}

void Journal::take(const Json& line) {
    const std::string id = line["id"].text_or("");
    const std::string what = line["what"].text_or("");
    if (what == "propose") remember({line["key"].text_or(""), line["body"], texts(line["keys"])});
    if (what == "accepted") calls_[line["key"].text_or("")].ids = texts(line["ids"]);
    if (what == "begin") standing_[id].progress = Progress::begun;
    if (what == "finish") standing_[id] = {Progress::finished, line["result"]};
}

Result<void> Journal::write(const Json& line, bool must_sync) {
    if (file_ < 0) return {};
    const std::string text = line.dump() + "\n";
    errno = ENOSPC;  // what a short write means, which sets none
    if (!is_torn_ &&
        ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        (!must_sync || ::fdatasync(file_) == 0)) {
        size_ += static_cast<off_t>(text.size());
        return {};
    }
    const std::string why = is_torn_ ? "it ends in half a line" : std::strerror(errno);
    // Half a line would make one with the next, and be taken for damage.
    is_torn_ = ::ftruncate(file_, size_) != 0;
    return Error{ErrorCode::unavailable, fmt::format("the journal cannot be written: {}", why)};
}

void Journal::remember(Proposed call) {
    for (std::size_t at = 0; at < call.keys.size(); ++at) things_[call.keys[at]] = {call.key, at};
    const std::string key = call.key;
    calls_.insert_or_assign(key, std::move(call));
}

std::optional<Journal::Known> Journal::find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = things_.find(key);
    if (found == things_.end()) return std::nullopt;
    const auto& [call, at] = found->second;
    return Known{calls_.at(call), at};
}

Result<void> Journal::propose(const Proposed& call) {
    const Json line = Json::object({{"what", "propose"},
                                    {"key", call.key},
                                    {"keys", Json::texts(call.keys)},
                                    {"body", call.body}});
    const Result<void> ok = is_text_only(value_of(call.body))
                                ? readable(line)
                                : Error{ErrorCode::invalid_argument, "a text is not UTF-8"};
    if (!ok)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("what is proposed cannot be kept: {}", ok.error().message)};
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return {};
    if (Result<void> written = write(line, false); !written) return written;
    remember(call);
    return {};
}

Result<void> Journal::accepted(const std::string& call_key, const std::vector<std::string>& ids) {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return {};
    // The body is only needed to ask again for an answer that did not come.
    calls_[call_key].body = {};
    calls_[call_key].ids = ids;
    return write(Json::object({{"what", "accepted"}, {"key", call_key}, {"ids", Json::texts(ids)}}),
                 false);
}

Journal::Standing Journal::standing(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = standing_.find(id);
    return found == standing_.end() ? Standing{} : found->second;
}

Result<Journal::Standing> Journal::begin(const std::string& id) {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return Standing{};
    Standing& standing = standing_[id];
    if (standing.progress != Progress::fresh) return standing;
    if (Result<void> ok = write(Json::object({{"what", "begin"}, {"id", id}}), true); !ok)
        return ok.error();
    standing.progress = Progress::begun;
    return Standing{};
}

Result<void> Journal::finish(const std::string& id, const Json& result) {
    Json line = Json::object({{"what", "finish"}, {"id", id}, {"result", result}});
    if (const Result<void> ok = readable(line); !ok)
        line = line.with("result", fmt::format("it ran, but its result could not be kept: {}",
                                               ok.error().message));
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return {};
    // Only a later process asks for the result: it reads it from the file.
    standing_[id] = {Progress::finished, {}};
    return write(line, true);
}

}  // namespace holdpoint::agent
