#include "cli/answer_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "cli/json_text.h"
#include "cli/proposal.h"
#include "cli/terminal.h"

namespace holdpoint::cli {
namespace {

Error bad_answer(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

Result<json::value> one_option(const json::value& input, const std::string& text) {
    const json::array* options = member(input, "options").if_array();
    std::string known;
    if (options != nullptr)
        for (const json::value& option : *options) {
            const boost::json::string* name = option.if_string();
            if (name != nullptr && *name == text) return json::value(text);
            known += (known.empty() ? "" : ", ") + compact(option);
        }
    return bad_answer(fmt::format("`{}` is not one of {}", visible(cut_utf8(text, 100)), known));
}

Result<json::value> number(const json::value& input, const std::string& text) {
    Result<json::value> value = json::parse(text);
    if (!value || !(value->is_int64() || value->is_double()))
        return bad_answer(fmt::format("`{}` is not a number", visible(cut_utf8(text, 100))));
    const double given =
        value->is_int64() ? static_cast<double>(value->get_int64()) : value->get_double();
    if (const auto min = number_of(input, "min"); min && given < *min)
        return bad_answer(fmt::format("the smallest answer is {:g}", *min));
    if (const auto max = number_of(input, "max"); max && given > *max)
        return bad_answer(fmt::format("the largest answer is {:g}", *max));
    return value;
}

Result<json::value> file(const std::string& path) {
    const Result<std::string> bytes = read_input(path);
    if (!bytes) return bytes.error();
    if (bytes->size() > 128 * 1024) return bad_answer("a file may have 128 KiB");
    return json::value(json::object{{"name", path.substr(path.rfind('/') + 1)},
                                    {"content_base64", base64(*bytes)}});
}

}  // namespace

Result<json::value> answer_value(const Request& request, const std::vector<std::string>& values) {
    const json::value& input = request.subject();
    const std::string type = text_of(input, "type");
    if (type == "multi_choice") {
        json::array chosen;
        for (const std::string& text : values) {
            Result<json::value> option = one_option(input, text);
            if (!option) return option.error();
            chosen.push_back(std::move(*option));
        }
        return json::value(std::move(chosen));
    }
    if (values.size() != 1) return bad_answer("this question takes one value");
    const std::string& text = values.front();
    if (type == "number") return number(input, text);
    if (type == "choice") return one_option(input, text);
    if (type == "file") return file(text);
    if (type == "date") {
        const bool is_date = text.size() == 10 && parse_timestamp(text + "T00:00:00Z").has_value();
        if (!is_date)
            return bad_answer(
                fmt::format("`{}` is not a date like `2026-11-15`", visible(cut_utf8(text, 40))));
    }
    return json::value(text);
}

}  // namespace holdpoint::cli
