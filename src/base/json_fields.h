#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace holdpoint::json {

/// How long a text may be, and whether it may span lines.
struct TextRule {
    std::size_t min = 0;
    std::size_t max = 64 * 1024;
    bool is_one_line = false;  ///< control characters are refused
};

struct NumberRule {
    double min;
    double max;
};

/// Reads the members of one object. The first thing wrong is remembered with the path of its field;
/// reading goes on with defaults, so that callers need one check, finish(), at the end. Members
/// that nobody asked for are refused: a misspelt field must not be lost silently.
///
///     Fields fields(body, "action");
///     std::string tool = fields.required_text("tool", {.min = 1, .max = 200});
///     if (Result<void> ok = fields.finish(); !ok) return ok.error();
class Fields {
  public:
    /// `value` must be an object, else finish() says so.
    Fields(const value& value, std::string path);

    std::string required_text(std::string_view name, TextRule rule = {});
    /// Absent and null read as nullopt.
    std::optional<std::string> text(std::string_view name, TextRule rule = {});
    std::optional<double> number(std::string_view name, NumberRule rule);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::optional<bool> boolean(std::string_view name);
    std::optional<std::vector<std::string>> texts(std::string_view name, std::size_t count_max,
                                                  TextRule rule = {});
    /// The member as it is, or nullptr when absent (null is a value here).
    const value* any(std::string_view name);
    const value* required(std::string_view name);
    /// One of these words; the error lists them.
    std::optional<std::string> word(std::string_view name,
                                    std::initializer_list<std::string_view> words);

    /// Remembers an error of the caller's own about one field.
    void refuse(std::string_view name, std::string message,
                ErrorCode code = ErrorCode::invalid_argument);
    void fail(Error error);
    bool has_failed() const { return error_.has_value(); }

    std::string path_of(std::string_view name) const;
    Result<void> finish();

  private:
    const value* find(std::string_view name);

    const object* object_ = nullptr;
    std::string path_;
    /// One bit for each of the first members: asked for. No kind of object knows as many fields as
    /// there are bits, so of a longer one some early member is unknown.
    std::uint64_t asked_ = 0;
    std::optional<Error> error_;
};

}  // namespace holdpoint::json
