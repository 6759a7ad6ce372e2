#include "cli/arguments.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <CLI/CLI.hpp>

namespace holdpoint::cli {
namespace {

/// `nan` lies within every range, since no comparison with it holds, and means none of the things
/// that a number is given for.
std::string flaw_of_number(const std::string& text) {
    double number = 0;
    const bool is_number = CLI::detail::lexical_cast(text, number);
    return is_number && !std::isfinite(number) ? "must be a finite number" : "";
}

}  // namespace

Option Option::required() { return Option(option_->required()); }
Option Option::group(const std::string& name) { return Option(option_->group(name)); }
Option Option::one_of(std::vector<std::string> words) {
    return Option(option_->check(CLI::IsMember(std::move(words)), one_of_check));
}
Option Option::between(std::int64_t min, std::int64_t max) {
    return Option(option_->check(CLI::Range(min, max)));
}
Option Option::positive() { return Option(option_->check(CLI::PositiveNumber)); }
Option Option::not_negative() { return Option(option_->check(CLI::NonNegativeNumber)); }
Option Option::existing_file() { return Option(option_->check(CLI::ExistingFile)); }
Option Option::check(std::function<std::string(const std::string&)> flaw) {
    return Option(option_->check(std::move(flaw)));
}
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
Option Option::one_each() { return Option(option_->allow_extra_args(false)); }
Option Option::separated_by(char separator) { return Option(option_->delimiter(separator)); }
Option Option::from_environment(const std::string& variable) {
    return Option(option_->envname(variable));
}
Option Option::show_default() { return Option(option_->capture_default_str()); }

Command Command::add_subcommand(const std::string& name, const std::string& what) {
    return *app_->add_subcommand(name, what);
}

Command Command::needs_subcommand() {
    app_->require_subcommand(1);
    return *this;
}

template <class T>
Option Command::add_option(const std::string& name, T& value, const std::string& what) {
    Option option(app_->add_option(name, value, what));
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
        option.check(flaw_of_number);
    return option;
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::size_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&);

Option Command::add_flag(const std::string& name, bool& value, const std::string& what) {
    return Option(app_->add_flag(name, value, what));
}

Option Command::add_flag(const std::string& name, std::string& value, const std::string& what) {
    return Option(app_->add_flag(name, value, what));
}

Command Command::footer(const std::string& text) {
    app_->footer(text);
    return *this;
}

void Command::when_named(std::function<void()> work) { app_->callback(std::move(work)); }

}  // namespace holdpoint::cli
