#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace holdpoint::wire {

/// Reads query parameters by name. Like json::Fields: the first error is kept, and at the end an
/// unknown or repeated parameter is refused.
class Query {
  public:
    explicit Query(const std::vector<std::pair<std::string, std::string>>& parameters);

    std::optional<std::string> text(std::string_view name, std::size_t bytes_max = 200);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::optional<double> number(std::string_view name, double min, double max);
    std::optional<Timestamp> time(std::string_view name);
    template <class Word>
    std::optional<Word> word(std::string_view name);

    void refuse(std::string_view name, std::string message);
    Result<void> finish();

  private:
    const std::vector<std::pair<std::string, std::string>>& parameters_;
    std::vector<std::string_view> seen_;
    std::optional<Error> error_;
};

/// The filters that lists and event streams share. Leaves errors in the query.
store::ListFilter read_filter(Query& query);

/// `?cursor=` and `?limit=` besides the filters. A cursor is opaque and bound to its filter.
Result<store::ListQuery> parse_list(const std::vector<std::pair<std::string, std::string>>& query);
std::string cursor_of(std::int64_t before_row);

/// `?wait=S` as milliseconds, 0 without it. Nothing else may stand in the query.
Result<std::int64_t> parse_wait(const std::vector<std::pair<std::string, std::string>>& query,
                                std::int64_t wait_ms_max);

/// Refuses any parameter.
Result<void> expect_no_query(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace holdpoint::wire
