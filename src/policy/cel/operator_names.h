#pragma once

#include <array>
#include <string_view>

namespace holdpoint::cel {

/// Inside, operators are functions with names that no author can write.
struct OperatorName {
    std::string_view function;
    std::string_view symbol;
    bool is_comparison = false;
};

inline constexpr std::array<OperatorName, 19> operator_names = {{
    {"_==_", "==", true}, {"_!=_", "!=", true}, {"_<_", "<", true}, {"_<=_", "<=", true},
    {"_>_", ">", true},   {"_>=_", ">=", true}, {"_+_", "+"},       {"_-_", "-"},
    {"_*_", "*"},         {"_/_", "/"},         {"_%_", "%"},       {"-_", "-"},
    {"!_", "!"},          {"@in", "in"},        {"_&&_", "&&"},     {"_||_", "||"},
    {"_?_:_", "? :"},     {"_[_]", "[]"},       {"_[?_]", "[?]"},
}};

/// How an author writes the operator; empty if the function is none.
inline std::string_view operator_symbol(std::string_view function) {
    for (const OperatorName& name : operator_names) {
        if (name.function == function) return name.symbol;
    }
    return {};
}

inline bool is_comparison(std::string_view function) {
    for (const OperatorName& name : operator_names) {
        if (name.function == function) return name.is_comparison;
    }
    return false;
}

}  // namespace holdpoint::cel
