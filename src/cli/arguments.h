#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// How commands say what they take. CLI11 lives in headers and costs seconds wherever it is
/// included; through these handles it is compiled in one place. They are copied like pointers, and
/// what they refer to belongs to the CLI::App at the top.
namespace holdpoint::cli {

/// What the check of one_of() is called, for whoever lists the words: its description is `{a,b}`.
inline constexpr const char* one_of_check = "one_of";

class Option {
  public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option required();
    /// The heading of the help text that it stands under.
    Option group(const std::string& name);
    Option one_of(std::vector<std::string> words);
    Option between(std::int64_t min, std::int64_t max);
    Option positive();
    Option not_negative();
    Option existing_file();
    /// `flaw` gives what is wrong with a value, or nothing.
    Option check(std::function<std::string(const std::string&)> flaw);
    Option excludes(Option other);
    /// Each use takes one value; for more it is repeated.
    Option one_each();
    Option separated_by(char separator);
    /// Its value now is what the help text calls its default.
    Option show_default();
    /// Where the line does not give it, this variable may.
    Option from_environment(const std::string& variable);

    CLI::Option* get() const { return option_; }

  private:
    CLI::Option* option_;
};

class Command {
  public:
    Command(CLI::App& app) : app_(&app) {}

    Command add_subcommand(const std::string& name, const std::string& what);
    Command needs_subcommand();
    /// An option with a value, or a positional argument where `name` has no dashes. For the types
    /// that arguments.cpp lists. `value` must live as long as the command.
    template <class T>
    Option add_option(const std::string& name, T& value, const std::string& what);
    Option add_flag(const std::string& name, bool& value, const std::string& what);
    /// A flag that may have a value: `--wait` and `--wait=10m`. `name` says what it is without one:
    /// `--wait{forever}`.
    Option add_flag(const std::string& name, std::string& value, const std::string& what);
    /// A paragraph at the end of its help text.
    Command footer(const std::string& text);
    /// Called once the whole line was understood and named this command.
    void when_named(std::function<void()> work);

    CLI::App& get() const { return *app_; }

  private:
    CLI::App* app_;
};

}  // namespace holdpoint::cli
