#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "api/wire/errors.h"
#include "cli/json_text.h"
#include "cli/resource.h"

namespace holdpoint::cli {
namespace {

TEST(ExitCode, EveryErrorHasItsNumber) {
    const std::map<ErrorCode, int> wanted{{ErrorCode::invalid_argument, 2},
                                          {ErrorCode::unauthenticated, 1},
                                          {ErrorCode::permission_denied, 1},
                                          {ErrorCode::not_found, 1},
                                          {ErrorCode::method_not_allowed, 1},
                                          {ErrorCode::conflict, 1},
                                          {ErrorCode::expired, 4},
                                          {ErrorCode::too_large, 2},
                                          {ErrorCode::unsupported_media_type, 1},
                                          {ErrorCode::refused, 1},
                                          {ErrorCode::rate_limited, 1},
                                          {ErrorCode::unavailable, 5},
                                          {ErrorCode::internal, 1}};
    for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
        const auto found = wanted.find(static_cast<ErrorCode>(code));
        ASSERT_NE(found, wanted.end()) << code;
        EXPECT_EQ(static_cast<int>(exit_code(found->first)), found->second)
            << to_string(found->first);
    }
}

/// One row of the table in docs/errors.md.
struct Documented {
    int status = 0;
    int exit = 0;
};

std::map<std::string, Documented> documented_errors() {
    std::ifstream in(std::filesystem::path(HOLDPOINT_SOURCE_DIR) / "docs/errors.md");
    const std::regex row(R"(^\| `([a-z_]+)` \| ([0-9]+)[0-9, ]* \| ([0-9]+) \|.*)");
    std::map<std::string, Documented> found;
    std::string line;
    std::smatch match;
    while (std::getline(in, line))
        if (std::regex_match(line, match, row))
            found[match[1]] = {std::stoi(match[2]), std::stoi(match[3])};
    return found;
}

TEST(ExitCode, TheDocumentedNumbersAreTheRealOnes) {
    const std::map<std::string, Documented> found = documented_errors();
    for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
        const auto code = static_cast<ErrorCode>(i);
        const std::string name(to_string(code));
        ASSERT_TRUE(found.contains(name)) << name;
        EXPECT_EQ(found.at(name).status, wire::http_status(code)) << name;
        EXPECT_EQ(found.at(name).exit, static_cast<int>(exit_code(code))) << name;
    }
    EXPECT_EQ(found.size(), static_cast<std::size_t>(ErrorCode::internal) + 1);
}

json::value resource(std::string_view outcome, bool is_released) {
    json::object request{{"id", "req_x"},
                         {"kind", "action"},
                         {"state", outcome.empty() ? "pending" : "settled"},
                         {"outcome", outcome.empty() ? json::value{} : json::value(outcome)},
                         {"action", json::object{{"tool", "t"}, {"arguments", json::object{}}}},
                         {"risk", json::object{{"level", "low"}}},
                         {"digest", "sha256:00"},
                         {"created_at", "2026-11-15T21:00:00.000Z"},
                         {"expires_at", "2026-11-15T21:05:00.000Z"}};
    if (is_released) request["release"] = json::object{{"arguments", json::object{{"a", 1}}}};
    return request;
}

TEST(ExitCode, EveryOutcomeWithoutAReleaseHasItsNumber) {
    const std::map<std::string, int> wanted{{"allowed", 3},  {"denied", 3},   {"approved", 3},
                                            {"modified", 3}, {"rejected", 3}, {"deferred", 3},
                                            {"aborted", 3},  {"answered", 0}, {"skipped", 3},
                                            {"expired", 4},  {"cancelled", 3}};
    for (int i = 0; i <= static_cast<int>(core::Outcome::cancelled); ++i) {
        const std::string word{core::to_string(static_cast<core::Outcome>(i))};
        ASSERT_TRUE(wanted.contains(word)) << word;
        const Result<Request> request = read_request(resource(word, false));
        ASSERT_TRUE(request) << word;
        EXPECT_EQ(static_cast<int>(exit_code(*request)), wanted.at(word)) << word;
    }
}

TEST(ExitCode, WhatWasReleasedIsFineAlsoWhenTimeReleasedIt) {
    for (const char* word : {"allowed", "approved", "modified", "expired"})
        EXPECT_EQ(exit_code(*read_request(resource(word, true))), ExitCode::fine) << word;
}

TEST(ExitCode, WhatIsStillPendingIsNotReleased) {
    EXPECT_EQ(exit_code(*read_request(resource("", false))), ExitCode::not_released);
}

TEST(Resource, HalfARequestIsRefused) {
    for (const char* part : {"id", "kind", "state", "risk", "digest", "created_at", "action"}) {
        json::value whole = resource("", false);
        whole.as_object().erase(part);
        EXPECT_FALSE(read_request(whole)) << part;
    }
    EXPECT_FALSE(read_request(json::value{}));
}

TEST(Resource, ASettledRequestWithAnUnknownOutcomeIsRefused) {
    EXPECT_FALSE(read_request(resource("blessed", true)));
}

TEST(Resource, TheReleasedArgumentsAreTheOnesToRun) {
    EXPECT_EQ(compact(released_value(*read_request(resource("modified", true)))), R"({"a":1})");
}

}  // namespace
}  // namespace holdpoint::cli
