#pragma once

#include <string>

namespace CLI {
class App;
}

namespace holdpoint::cli {

/// Scripts that complete commands and options, made from the commands themselves so that they
/// cannot lag behind. `shell` is bash, zsh or fish.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace holdpoint::cli
