#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/config_file.h"

namespace holdpoint::cli {

/// The flags that every command takes; empty means not given.
struct Flags {
    std::string config = {};
    std::string url = {};
    std::string token_file = {};
    std::string ca_file = {};
    std::string color = {};
    bool is_json = false;
    bool is_quiet = false;
    bool may_use_http = false;
};

/// What the outside world looks like to resolve(); tests give their own.
struct Surroundings {
    /// An environment variable; an empty one counts as not set.
    std::function<std::optional<std::string>(const std::string& name)> variable;
    /// A whole file: not_found where there is none, unavailable where it cannot be read.
    std::function<Result<std::string>(const std::string& path)> read_file;
};
Surroundings real_surroundings();

/// A value and where it came from, in words for `doctor`: `--url`, `HOLDPOINT_URL`, a path,
/// `default`.
struct Setting {
    std::string value;
    std::string origin;
};

struct Settings {
    Setting url;
    Setting token;  ///< the secret itself; never printed. Empty value: none was set
    Setting ca_file;
    Setting color;  ///< auto, always, never
    bool may_use_http = false;
    std::vector<std::string> config_files;  ///< those that were read, strongest first
};

inline constexpr std::string_view default_url = "http://127.0.0.1:7480";

/// Flags win over the environment, that over the person's config file, that over the machine's,
/// that over the defaults. Fails where something that was asked for cannot be had: a missing
/// `--config`, an unreadable token file, an unknown key. A wrong setting is never skipped silently.
Result<Settings> resolve(const Flags& flags, const Surroundings& surroundings);

/// The two places a config file is looked for, strongest first.
std::vector<std::string> config_paths(const Surroundings& surroundings);

/// One of them, or not_found. What is wrong in it is told with path and line.
Result<ConfigFile> read_config_file(const std::string& path, const Surroundings& surroundings);

/// The address of a server, without slashes at its end. `origin` names what said it, for the
/// message.
Result<std::string> checked_url(std::string url, const std::string& origin);

/// Whether a url leads to this machine itself, so that plain HTTP shows the token to nobody else.
bool is_loopback(std::string_view url);

}  // namespace holdpoint::cli
