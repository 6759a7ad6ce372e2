// The command line's parser: any vector of words is understood or refused, and nothing is run. The
// words are what stands between zero bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/app.h"
#include "cli/config_file.h"
#include "cli/duration.h"
#include "cli/style.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool is_ready = [] {
        holdpoint::cli::use_utf8_locale();
        return true;
    }();
    (void)is_ready;
    if (size > 4096) return 0;
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < size; ++i) {
        if (data[i] == 0)
            words.emplace_back();
        else
            words.back() += static_cast<char>(data[i]);
    }
    for (const std::string& word : words) {
        (void)holdpoint::cli::parse_duration_s(word);
        (void)holdpoint::cli::parse_config(word);
        for (const auto& line : holdpoint::cli::wrap({{holdpoint::cli::Style::plain, word}}, 20, 4))
            if (holdpoint::cli::width(line) > 20) __builtin_trap();
    }
    // Made once: that takes a thousand times as long as reading the words does.
    static holdpoint::cli::Commands commands;
    static CLI::App& app = *new CLI::App;
    static const bool is_made = [] {
        app.name("holdpoint");
        holdpoint::cli::add_commands(app, commands);
        return true;
    }();
    (void)is_made;
    commands.run = nullptr;
    // CLI11 takes the words last first.
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    try {
        app.parse(reversed);
        if (!commands.run) __builtin_trap();
    } catch (const CLI::ParseError&) {
    }
    return 0;
}
