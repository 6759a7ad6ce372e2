#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/compile.h"
#include "policy/explain.h"
#include "policy/run_tests.h"

/// The first line is a call, the rest a policy. Whatever they are, the engine answers, and a policy
/// whose master switch is on never lets pass what one of its own rules denies.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace holdpoint;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t line = input.find('\n');
    if (line == std::string_view::npos) return 0;
    policy::LoadOptions options;
    options.may_fail_tests = true;
    const auto policy = policy::load(input.substr(line + 1), options);
    if (!policy) return 0;
    const Result<json::value> document = json::parse(input.substr(0, line));
    if (!document) return 0;
    Result<policy::Situation> read = policy::read_situation(*document, {1'772'452'800'000});
    if (!read || !policy::settle(*read, **policy)) return 0;
    policy::Workspace workspace;
    const policy::Verdict verdict = policy::evaluate(**policy, read->call, read->state, workspace);
    const json::object record = policy::explain(**policy, read->call, read->state, workspace);
    if (record.at("kind").as_string() != core::to_string(verdict.kind)) __builtin_trap();
    bool is_denied = false;
    for (const json::value& one : record.at("matched").as_array())
        is_denied = is_denied || one.at("effect").as_string() == "deny";
    if (is_denied && verdict.kind != core::VerdictKind::deny) __builtin_trap();
    return 0;
}
