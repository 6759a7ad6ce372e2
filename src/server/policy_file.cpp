#include "server/policy_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "policy/compile.h"

namespace holdpoint::server {
namespace {

constexpr std::size_t bytes_max = 1 << 20;

/// A parent is named by a plain file name: a policy that anybody may write must not read the disk.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
}

}  // namespace

Result<std::string> read_policy_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("cannot read the policy `{}`: {}", path, std::strerror(errno))};
    std::string text(bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad())
        return Error{ErrorCode::invalid_argument, fmt::format("cannot read the policy `{}`", path)};
    if (text.size() > bytes_max)
        return Error{ErrorCode::too_large,
                     fmt::format("the policy `{}` is larger than {} bytes", path, bytes_max)};
    return text;
}

policy::ParentReader parents_beside(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return [folder](const std::string& name) -> Result<std::string> {
        if (!is_plain_name(name))
            return Error{ErrorCode::invalid_argument,
                         fmt::format("`{}` is neither a preset nor a file beside this one", name)};
        return read_policy_text((folder / name).string());
    };
}

Result<service::PolicyInForce::Pointer> load_policy_file(const std::string& path) {
    const Result<std::string> text = read_policy_text(path);
    if (!text) return text.error();
    policy::LoadOptions options;
    options.read_parent = parents_beside(path);
    Result<service::PolicyInForce::Pointer> policy = policy::load(*text, options);
    if (policy) return policy;
    Error error = policy.error();
    error.message = fmt::format("{}: {}", path, error.message);
    return error;
}

}  // namespace holdpoint::server
