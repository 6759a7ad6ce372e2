#include "cli/completion.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "cli/app.h"

namespace holdpoint::cli {
namespace {

struct Choice {
    std::string text;
    std::string what;
    std::string values = {};  ///< of an option: the words it takes, with spaces between
};

/// One place on the command line: the commands so far and what may follow.
struct Place {
    std::string path;  ///< `holdpoint key create`
    std::vector<Choice> commands;
    std::vector<Choice> options;
    std::size_t own_options = 0;  ///< so many are its own, the rest those of the commands above
};

std::string values_of(const CLI::Option& option) {
    try {
        // CLI11 shows only what describes them.
        std::string words =
            const_cast<CLI::Option&>(option).get_validator(one_of_check)->get_description();
        std::ranges::replace_if(
            words, [](char c) { return c == '{' || c == ',' || c == '}'; }, ' ');
        return words.substr(1, words.size() - 2);
    } catch (const CLI::OptionNotFound&) {
        return {};
    }
}

std::vector<Choice> option_words(const CLI::App& app) {
    std::vector<Choice> words;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            words.push_back({"--" + name, option->get_description(), values_of(*option)});
    return words;
}

void collect(const CLI::App& app, const std::string& path, const std::vector<Choice>& inherited,
             std::vector<Place>& places) {
    Place place{path, {}, option_words(app)};
    place.own_options = place.options.size();
    for (const Choice& word : inherited)
        if (word.text != "--help" && word.text != "--version") place.options.push_back(word);
    const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* sub : subcommands)
        place.commands.push_back({sub->get_name(), sub->get_description()});
    const std::vector<Choice> options = place.options;
    places.push_back(std::move(place));
    for (const CLI::App* sub : subcommands)
        collect(*sub, path + " " + sub->get_name(), options, places);
}

std::string joined(const std::vector<Choice>& words) {
    std::string text;
    for (const Choice& word : words) text += (text.empty() ? "" : " ") + word.text;
    return text;
}

/// Inside single quotes of a shell.
std::string in_quotes(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out;
}

/// The lines of a shell's `case "PATH PREVIOUS" in` for the options that take one of a few words;
/// `line` gets them in place of its {}. An option of `holdpoint` itself may stand after any
/// command.
std::string value_cases(const std::vector<Place>& places, const char* line) {
    std::string text;
    for (const Place& place : places)
        for (std::size_t i = 0; i < place.own_options; ++i) {
            const Choice& option = place.options[i];
            if (option.values.empty()) continue;
            const bool is_anywhere = place.path == "holdpoint";
            text += fmt::format("        '{}'{}' {}') ", place.path, is_anywhere ? "*" : "",
                                option.text);
            text += fmt::format(fmt::runtime(line), option.values);
        }
    return text;
}

/// The word list of bash: finds how deep the line is in commands, then offers what may follow.
std::string bash(const std::vector<Place>& places) {
    std::string text =
        "# bash completion for holdpoint; use with: source <(holdpoint completion bash)\n"
        "_holdpoint() {\n"
        "    local word=\"${COMP_WORDS[COMP_CWORD]}\" path=holdpoint i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case \"$path ${COMP_WORDS[i]}\" in\n";
    for (const Place& place : places)
        if (place.path != "holdpoint")
            text += fmt::format("            '{0}') path='{0}' ;;\n", place.path);
    text +=
        "        esac\n"
        "    done\n"
        "    local commands= options=\n"
        "    case \"$path\" in\n";
    for (const Place& place : places)
        text += fmt::format("        '{}') commands='{}' options='{}' ;;\n", place.path,
                            joined(place.commands), joined(place.options));
    text +=
        "    esac\n"
        "    local values=\n"
        "    case \"$path ${COMP_WORDS[COMP_CWORD-1]}\" in\n";
    text += value_cases(places, "values='{}' ;;\n");
    text +=
        "    esac\n"
        "    if [[ -n $values ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
        "    elif [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    elif [[ ${COMP_WORDS[COMP_CWORD-1]} == --*file || ${COMP_WORDS[COMP_CWORD-1]} == "
        "--config || ${COMP_WORDS[COMP_CWORD-1]} == --data || ${COMP_WORDS[COMP_CWORD-1]} == "
        "--policy || $path == 'holdpoint policy '* ]]; then\n"
        "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
        "    fi\n"
        "}\n"
        "complete -F _holdpoint holdpoint\n";
    return text;
}

std::string zsh_words(const std::vector<Choice>& words) {
    std::string text;
    for (const Choice& word : words) {
        std::string name;
        for (char c : word.text) name += c == ':' ? std::string("\\:") : std::string(1, c);
        text += fmt::format(" '{}:{}'", in_quotes(name), in_quotes(word.what));
    }
    return text;
}

std::string zsh(const std::vector<Place>& places) {
    std::string text =
        "#compdef holdpoint\n"
        "# zsh completion for holdpoint; put it into a folder of $fpath as _holdpoint\n"
        "_holdpoint() {\n"
        "    local where=holdpoint i\n"
        "    local -a commands options\n"
        "    for ((i = 2; i < CURRENT; i++)); do\n"
        "        case \"$where ${words[i]}\" in\n";
    for (const Place& place : places)
        if (place.path != "holdpoint")
            text += fmt::format("            '{0}') where='{0}' ;;\n", place.path);
    text +=
        "        esac\n"
        "    done\n"
        "    case \"$where\" in\n";
    for (const Place& place : places)
        text += fmt::format("        '{}') commands=({} ) options=({} ) ;;\n", place.path,
                            zsh_words(place.commands), zsh_words(place.options));
    text +=
        "    esac\n"
        "    case \"$where ${words[CURRENT-1]}\" in\n";
    text += value_cases(places, "compadd -- {}; return ;;\n");
    text +=
        "    esac\n"
        "    if [[ ${words[CURRENT]} == -* ]]; then\n"
        "        _describe option options\n"
        "    elif (( ${#commands} )); then\n"
        "        _describe command commands\n"
        "    else\n"
        "        _files\n"
        "    fi\n"
        "}\n"
        "compdef _holdpoint holdpoint\n";
    return text;
}

/// The condition under which fish offers a place's words: its commands were typed, no deeper one.
std::string fish_condition(const Place& place) {
    std::string path = place.path.substr(std::string("holdpoint").size());
    if (path.empty()) return "__fish_use_subcommand";
    std::string condition;
    std::size_t at = 0;
    while ((at = path.find_first_not_of(' ', at)) != std::string::npos) {
        const std::size_t end = std::min(path.find(' ', at), path.size());
        if (!condition.empty()) condition += "; and ";
        condition += "__fish_seen_subcommand_from " + path.substr(at, end - at);
        at = end;
    }
    return condition;
}

std::string fish(const std::vector<Place>& places) {
    std::string text =
        "# fish completion for holdpoint; use with: holdpoint completion fish | source\n"
        "complete -c holdpoint -f\n"
        "complete -c holdpoint -n '__fish_seen_subcommand_from policy; and "
        "__fish_seen_subcommand_from check test explain diff apply backtest' -F\n";
    for (const Place& place : places) {
        const std::string condition = fish_condition(place);
        for (const Choice& word : place.commands)
            text += fmt::format("complete -c holdpoint -n '{}' -a {} -d '{}'\n", condition,
                                word.text, in_quotes(word.what));
        for (const Choice& word : place.options)
            text += fmt::format("complete -c holdpoint -n '{}' -l {}{} -d '{}'\n", condition,
                                word.text.substr(2),
                                word.values.empty() ? "" : fmt::format(" -x -a '{}'", word.values),
                                in_quotes(word.what));
    }
    return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
    std::vector<Place> places;
    collect(app, "holdpoint", {}, places);
    if (shell == "zsh") return zsh(places);
    if (shell == "fish") return fish(places);
    return bash(places);
}

void add_completion(Command app, Commands& commands) {
    auto shell = std::make_shared<std::string>();
    Command command = app.add_subcommand("completion", "Print a completion script for a shell");
    command.add_option("shell", *shell, "bash, zsh or fish")
        .required()
        .one_of({"bash", "zsh", "fish"});
    on_run(command, commands, [shell, app](const Flags&) {
        std::fputs(completion_script(app.get(), *shell).c_str(), stdout);
        return ExitCode::fine;
    });
}

}  // namespace holdpoint::cli
