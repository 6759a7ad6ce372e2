#include "base/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace holdpoint::json {
namespace {

const char* kind_of(const value& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return "null";
        case boost::json::kind::bool_:
            return "a boolean";
        case boost::json::kind::int64:
        case boost::json::kind::uint64:
        case boost::json::kind::double_:
            return "a number";
        case boost::json::kind::string:
            return "a string";
        case boost::json::kind::array:
            return "an array";
        case boost::json::kind::object:
            return "an object";
    }
    return "something else";
}

std::string number_text(double number) {
    std::string out;
    append_number(out, number);
    return out;
}

/// What is wrong with the text, if something is.
std::optional<std::string> flaw_of(std::string_view text, const TextRule& rule) {
    if (text.size() < rule.min)
        return text.empty() ? "must not be empty"
                            : fmt::format("is shorter than {} bytes", rule.min);
    if (text.size() > rule.max)
        return fmt::format("has {} bytes, at most {} are allowed", text.size(), rule.max);
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    };
    if (rule.is_one_line && std::ranges::any_of(text, is_control))
        return "must not contain control characters";
    return std::nullopt;
}

}  // namespace

Fields::Fields(const value& value, std::string path) : path_(std::move(path)) {
    object_ = value.if_object();
    if (!object_)
        fail({ErrorCode::invalid_argument, fmt::format("must be an object, not {}", kind_of(value)),
              path_});
}

std::string Fields::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void Fields::fail(Error error) {
    if (!error_) error_ = std::move(error);
}

void Fields::refuse(std::string_view name, std::string message, ErrorCode code) {
    fail({code, std::move(message), path_of(name)});
}

const value* Fields::find(std::string_view name) {
    if (!object_) return nullptr;
    const auto found = object_->find(name);
    if (found == object_->end()) return nullptr;
    if (const auto index = found - object_->begin(); index < 64)
        asked_ |= std::uint64_t{1} << index;
    return &found->value();
}

const value* Fields::any(std::string_view name) { return find(name); }

const value* Fields::required(std::string_view name) {
    const value* found = find(name);
    if (!found) refuse(name, "is missing");
    return found;
}

std::optional<std::string> Fields::text(std::string_view name, TextRule rule) {
    const value* found = find(name);
    if (!found || found->is_null()) return std::nullopt;
    const boost::json::string* text = found->if_string();
    if (!text) {
        refuse(name, fmt::format("must be a string, not {}", kind_of(*found)));
        return std::nullopt;
    }
    const std::string_view view(text->data(), text->size());
    if (std::optional<std::string> flaw = flaw_of(view, rule)) {
        refuse(name, std::move(*flaw));
        return std::nullopt;
    }
    return std::string(view);
}

std::string Fields::required_text(std::string_view name, TextRule rule) {
    std::optional<std::string> found = text(name, rule);
    if (!found && !has_failed()) refuse(name, "is missing");
    return std::move(found).value_or("");
}

std::optional<double> Fields::number(std::string_view name, NumberRule rule) {
    const value* found = find(name);
    if (!found || found->is_null()) return std::nullopt;
    if (!found->is_number()) {
        refuse(name, fmt::format("must be a number, not {}", kind_of(*found)));
        return std::nullopt;
    }
    const double number = found->is_double()
                              ? found->get_double()
                              : static_cast<double>(found->to_number<std::int64_t>());
    if (!(number >= rule.min && number <= rule.max)) {
        refuse(name, fmt::format("must lie between {} and {}", number_text(rule.min),
                                 number_text(rule.max)));
        return std::nullopt;
    }
    return number;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t min,
                                            std::int64_t max) {
    const std::optional<double> found =
        number(name, {static_cast<double>(min), static_cast<double>(max)});
    if (!found) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(*found);
    if (static_cast<double>(whole) != *found) {
        refuse(name, "must be a whole number");
        return std::nullopt;
    }
    return whole;
}

std::optional<bool> Fields::boolean(std::string_view name) {
    const value* found = find(name);
    if (!found || found->is_null()) return std::nullopt;
    if (!found->is_bool()) {
        refuse(name, fmt::format("must be true or false, not {}", kind_of(*found)));
        return std::nullopt;
    }
    return found->get_bool();
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name, std::size_t count_max,
                                                      TextRule rule) {
    const value* found = find(name);
    if (!found || found->is_null()) return std::nullopt;
    const array* list = found->if_array();
    if (!list) {
        refuse(name, fmt::format("must be an array of strings, not {}", kind_of(*found)));
        return std::nullopt;
    }
    if (list->size() > count_max) {
        refuse(name,
               fmt::format("has {} entries, at most {} are allowed", list->size(), count_max));
        return std::nullopt;
    }
    std::vector<std::string> out;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const boost::json::string* text = (*list)[i].if_string();
        std::optional<std::string> flaw =
            text ? flaw_of({text->data(), text->size()}, rule)
                 : fmt::format("must be a string, not {}", kind_of((*list)[i]));
        if (flaw) {
            refuse(fmt::format("{}[{}]", name, i), std::move(*flaw));
            return std::nullopt;
        }
        out.emplace_back(text->data(), text->size());
    }
    return out;
}

std::optional<std::string> Fields::word(std::string_view name,
                                        std::initializer_list<std::string_view> words) {
    std::optional<std::string> found = text(name);
    if (!found) return std::nullopt;
    if (std::find(words.begin(), words.end(), *found) == words.end()) {
        refuse(name, fmt::format("`{}` is none of {}", visible(cut_utf8(*found, 64)),
                                 fmt::join(words, ", ")));
        return std::nullopt;
    }
    return found;
}

Result<void> Fields::finish() {
    if (!error_ && object_) {
        std::uint64_t asked = asked_;
        for (const auto& member : *object_) {
            const bool is_known = (asked & 1) != 0;
            asked >>= 1;
            if (is_known) continue;
            const std::string_view key(member.key().data(), member.key().size());
            refuse(visible(cut_utf8(key, 64)), "is not a field known here");
            break;
        }
    }
    if (error_) return *error_;
    return {};
}

}  // namespace holdpoint::json
