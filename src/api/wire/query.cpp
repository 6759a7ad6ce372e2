#include "api/wire/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "core/words.h"

namespace holdpoint::wire {
namespace {

constexpr std::int64_t limit_max = 100;
constexpr std::int64_t limit_default = 50;
constexpr std::string_view cursor_prefix = "c1-";

}  // namespace

Query::Query(const std::vector<std::pair<std::string, std::string>>& parameters)
    : parameters_(parameters) {}

void Query::refuse(std::string_view name, std::string message) {
    if (!error_) error_ = {ErrorCode::invalid_argument, std::move(message), std::string(name)};
}

std::optional<std::string> Query::text(std::string_view name, std::size_t bytes_max) {
    seen_.push_back(name);
    const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                    [&](const auto& parameter) { return parameter.first == name; });
    if (found == parameters_.end()) return std::nullopt;
    if (found->second.empty()) refuse(name, "must not be empty");
    if (found->second.size() > bytes_max)
        refuse(name, fmt::format("has more than {} bytes", bytes_max));
    return found->second;
}

std::optional<double> Query::number(std::string_view name, double min, double max) {
    const std::optional<std::string> given = text(name);
    if (!given) return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
    const bool is_number = error == std::errc() && end == given->data() + given->size();
    if (!is_number || !(number >= min && number <= max)) {
        refuse(name, fmt::format("must be a number between {} and {}", min, max));
        return std::nullopt;
    }
    return number;
}

std::optional<std::int64_t> Query::integer(std::string_view name, std::int64_t min,
                                           std::int64_t max) {
    const std::optional<std::string> given = text(name);
    if (!given) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), number);
    const bool is_whole = error == std::errc() && end == given->data() + given->size();
    if (!is_whole || number < min || number > max) {
        refuse(name, fmt::format("must be a whole number between {} and {}", min, max));
        return std::nullopt;
    }
    return number;
}

std::optional<Timestamp> Query::time(std::string_view name) {
    const std::optional<std::string> given = text(name);
    if (!given) return std::nullopt;
    const Result<Timestamp> time = parse_timestamp(*given);
    if (!time) {
        refuse(name, time.error().message);
        return std::nullopt;
    }
    return *time;
}

template <class Word>
std::optional<Word> Query::word(std::string_view name) {
    const std::optional<std::string> given = text(name);
    if (!given) return std::nullopt;
    std::optional<Word> word = core::parse_word<Word>(*given);
    if (!word) refuse(name, fmt::format("`{}` is not known here", visible(cut_utf8(*given, 64))));
    return word;
}

Result<void> Query::finish() {
    for (std::size_t i = 0; i < parameters_.size() && !error_; ++i) {
        const std::string& name = parameters_[i].first;
        const std::string shown = visible(cut_utf8(name, 64));
        if (std::find(seen_.begin(), seen_.end(), name) == seen_.end())
            refuse(shown, "is not a parameter known here");
        for (std::size_t k = 0; k < i; ++k)
            if (parameters_[k].first == name) refuse(shown, "is given twice");
    }
    if (error_) return *error_;
    return {};
}

store::ListFilter read_filter(Query& query) {
    store::ListFilter filter;
    filter.state = query.word<core::State>("state");
    filter.outcome = query.word<core::Outcome>("outcome");
    filter.session = query.text("session");
    filter.thread = query.text("thread");
    filter.task = query.text("task");
    filter.user = query.text("user");
    filter.agent = query.text("agent");
    filter.tool = query.text("tool");
    filter.risk = query.word<core::RiskLevel>("risk");
    filter.kind = query.word<core::Kind>("kind");
    if (const std::optional<std::string> batch = query.text("batch")) {
        filter.batch = BatchId::parse(*batch);
        if (!filter.batch) query.refuse("batch", "is not the id of a batch");
    }
    filter.since = query.time("since");
    filter.until = query.time("until");
    return filter;
}

std::string cursor_of(std::int64_t before_row) {
    return fmt::format("{}{:x}", cursor_prefix, before_row);
}

Result<store::ListQuery> parse_list(
    const std::vector<std::pair<std::string, std::string>>& parameters) {
    Query query(parameters);
    store::ListQuery list;
    list.filter = read_filter(query);
    if (const std::optional<std::string> snoozed = query.text("snoozed")) {
        if (*snoozed != "true" && *snoozed != "false")
            query.refuse("snoozed", "must be true or false");
        // Whose and when, the door adds.
        list.filter.snoozed = store::ListFilter::Snoozed{{}, *snoozed == "true", {}};
    }
    list.limit = static_cast<int>(query.integer("limit", 1, limit_max).value_or(limit_default));
    if (const std::optional<std::string> cursor = query.text("cursor")) {
        std::int64_t row = 0;
        const char* end = cursor->data() + cursor->size();
        const bool has_prefix = cursor->starts_with(cursor_prefix);
        const char* begin = cursor->data() + (has_prefix ? cursor_prefix.size() : 0);
        const auto [stop, error] = std::from_chars(begin, end, row, 16);
        if (!has_prefix || error != std::errc() || stop != end || row <= 0)
            query.refuse("cursor", "is not a cursor from a list");
        list.before_row = row;
    }
    if (Result<void> ok = query.finish(); !ok) return ok.error();
    return list;
}

Result<std::int64_t> parse_wait(const std::vector<std::pair<std::string, std::string>>& parameters,
                                std::int64_t wait_ms_max) {
    if (parameters.empty()) return 0;
    Query query(parameters);
    const double seconds =
        query.number("wait", 0, static_cast<double>(wait_ms_max) / 1000).value_or(0);
    if (Result<void> ok = query.finish(); !ok) return ok.error();
    return static_cast<std::int64_t>(seconds * 1000);
}

Result<void> expect_no_query(const std::vector<std::pair<std::string, std::string>>& parameters) {
    return Query(parameters).finish();
}

}  // namespace holdpoint::wire
