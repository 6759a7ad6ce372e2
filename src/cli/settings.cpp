#include "cli/settings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/text.h"

namespace holdpoint::cli {
namespace {

Result<std::string> read_whole_file(const std::string& path) {
    const auto fail = [&](int why) {
        const ErrorCode code = why == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
        return Error{
            code, fmt::format("cannot read `{}`: {}", path, std::generic_category().message(why))};
    };
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail(errno);
    // It opens like a file and reads like an empty one.
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) return fail(EISDIR);
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad() || text.bad())
        return Error{ErrorCode::unavailable, fmt::format("cannot read `{}`", path)};
    return std::move(text).str();
}

/// A failure to find settings is the user's to mend, not the server's.
Error as_usage(Error error) {
    error.code = ErrorCode::invalid_argument;
    return error;
}

/// One config file and where it stands.
struct ConfigLayer {
    std::string path;
    ConfigTable values;
};

Result<ConfigLayer> read_layer(const std::string& path, const Surroundings& surroundings) {
    Result<ConfigFile> file = read_config_file(path, surroundings);
    if (!file) return file.error();
    return ConfigLayer{path, std::move(file->client)};
}

Result<std::vector<ConfigLayer>> read_layers(const Flags& flags, const Surroundings& surroundings) {
    std::vector<ConfigLayer> layers;
    if (!flags.config.empty()) {
        Result<ConfigLayer> layer = read_layer(flags.config, surroundings);
        if (!layer) return as_usage(layer.error());
        layers.push_back(std::move(*layer));
        return layers;
    }
    for (const std::string& path : config_paths(surroundings)) {
        Result<ConfigLayer> layer = read_layer(path, surroundings);
        if (layer) {
            layers.push_back(std::move(*layer));
        } else if (layer.error().code != ErrorCode::not_found) {
            return as_usage(layer.error());
        }
    }
    return layers;
}

/// The first of flag, variable and config key that is set.
Setting choose(const Surroundings& surroundings, const std::vector<ConfigLayer>& layers,
               const std::string& flag, const std::string& name, const std::string& fallback) {
    if (!flag.empty()) {
        std::string option = "--" + name;
        for (char& c : option)
            if (c == '_') c = '-';
        return {flag, option};
    }
    std::string variable = "HOLDPOINT_" + name;
    for (char& c : variable) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (const auto value = surroundings.variable(variable)) return {*value, variable};
    for (const ConfigLayer& layer : layers)
        if (const auto found = layer.values.find(name); found != layer.values.end())
            return {found->second.words.front(), layer.path};
    return {fallback, "default"};
}

/// A token goes into a header line: nothing but visible ASCII may be in it.
Result<std::string> checked_token(std::string text, const std::string& origin) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
        text.pop_back();
    bool is_good = !text.empty() && text.size() <= 512;
    for (char c : text) is_good = is_good && c > ' ' && c < 0x7f;
    if (!is_good)
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("what {} holds is not a key (expected `hp_…` on one line)", origin)};
    return text;
}

Result<Setting> find_token(const Flags& flags, const Surroundings& surroundings,
                           const std::vector<ConfigLayer>& layers) {
    if (flags.token_file.empty()) {
        if (const auto token = surroundings.variable("HOLDPOINT_TOKEN")) {
            Result<std::string> checked = checked_token(*token, "HOLDPOINT_TOKEN");
            if (!checked) return checked.error();
            return Setting{std::move(*checked), "HOLDPOINT_TOKEN"};
        }
    }
    const Setting file = choose(surroundings, layers, flags.token_file, "token_file", "");
    if (file.value.empty()) return Setting{"", "not set"};
    Result<std::string> text = surroundings.read_file(file.value);
    if (!text) {
        Error error = as_usage(text.error());
        error.message += fmt::format(" (token file from {})", file.origin);
        return error;
    }
    Result<std::string> checked = checked_token(std::move(*text), "`" + file.value + "`");
    if (!checked) return checked.error();
    return Setting{std::move(*checked), fmt::format("{} ({})", file.value, file.origin)};
}

}  // namespace

Result<std::string> checked_url(std::string url, const std::string& origin) {
    while (url.ends_with('/')) url.pop_back();
    const bool has_scheme = url.starts_with("http://") || url.starts_with("https://");
    bool is_good = has_scheme && url.size() <= 2000 && url.find_first_of("?#@") == url.npos;
    for (char c : url) is_good = is_good && c > ' ' && c < 0x7f;
    if (!is_good || url.ends_with(':'))
        return Error{ErrorCode::invalid_argument,
                     fmt::format("`{}` (from {}) is not a server's address like `{}`",
                                 visible(cut_utf8(url, 200)), origin, default_url)};
    return url;
}

Surroundings real_surroundings() {
    return {[](const std::string& name) -> std::optional<std::string> {
                const char* value = std::getenv(name.c_str());
                if (value == nullptr || *value == '\0') return std::nullopt;
                return value;
            },
            read_whole_file};
}

std::vector<std::string> config_paths(const Surroundings& surroundings) {
    std::vector<std::string> paths;
    const auto xdg = surroundings.variable("XDG_CONFIG_HOME");
    const auto home = surroundings.variable("HOME");
    if (xdg) {
        paths.push_back(*xdg + "/holdpoint/config.toml");
    } else if (home) {
        paths.push_back(*home + "/.config/holdpoint/config.toml");
    }
    paths.emplace_back("/etc/holdpoint/config.toml");
    return paths;
}

Result<ConfigFile> read_config_file(const std::string& path, const Surroundings& surroundings) {
    const Result<std::string> text = surroundings.read_file(path);
    if (!text) return text.error();
    Result<ConfigFile> file = parse_config(*text);
    if (!file)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{}: {}", path, file.error().message)};
    return file;
}

bool is_loopback(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return false;
    std::string_view host = url.substr(scheme + 3);
    host = host.substr(0, host.find('/'));
    if (host.starts_with('[')) {
        const std::size_t end = host.find(']');
        return end != std::string_view::npos && host.substr(0, end + 1) == "[::1]";
    }
    host = host.substr(0, host.find(':'));
    if (host == "localhost") return true;
    // Only digits and dots, so that `127.0.0.1.example.org` is not taken for this machine.
    return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

Result<Settings> resolve(const Flags& flags, const Surroundings& surroundings) {
    Result<std::vector<ConfigLayer>> layers = read_layers(flags, surroundings);
    if (!layers) return layers.error();

    Settings settings;
    for (const ConfigLayer& layer : *layers) settings.config_files.push_back(layer.path);

    settings.url = choose(surroundings, *layers, flags.url, "url", std::string(default_url));
    Result<std::string> url = checked_url(settings.url.value, settings.url.origin);
    if (!url) return url.error();
    settings.url.value = std::move(*url);

    settings.color = choose(surroundings, *layers, flags.color, "color", "auto");
    const std::string& color = settings.color.value;
    if (color != "auto" && color != "always" && color != "never")
        return Error{ErrorCode::invalid_argument,
                     fmt::format("`{}` (from {}) is not a colour setting; there are auto, always "
                                 "and never",
                                 visible(cut_utf8(color, 40)), settings.color.origin)};

    settings.ca_file = choose(surroundings, *layers, flags.ca_file, "ca_file", "");
    const auto allow_http = surroundings.variable("HOLDPOINT_ALLOW_HTTP");
    settings.may_use_http = flags.may_use_http || (allow_http && *allow_http == "1");

    Result<Setting> token = find_token(flags, surroundings, *layers);
    if (!token) return token.error();
    settings.token = std::move(*token);
    return settings;
}

}  // namespace holdpoint::cli
