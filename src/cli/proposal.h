#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace holdpoint::cli {

/// What the flags of `holdpoint request` say; empty means not given.
struct ProposalFlags {
    struct Step {
        std::string action;
        bool is_optional = false;
    };

    std::string kind = {};
    std::string json_file = {};
    // action
    std::string tool = {}, args = {}, args_file = {}, description = {}, expected_outcome = {};
    // plan
    std::string title = {};
    std::vector<Step> steps = {};
    // input
    std::string question = {}, type = {}, default_value = {};
    std::vector<std::string> options = {};
    std::optional<double> min = {}, max = {};
    bool is_required = false;
    bool is_optional = false;
    // confirmation
    std::string message = {}, details = {}, confirm_label = {}, cancel_label = {};
    // response
    std::string text = {};
    // every kind
    std::string session = {}, thread = {}, task = {}, user = {}, risk = {}, context_file = {};
    std::string timeout = {}, on_timeout = {}, remind_every = {}, escalate_after = {},
                escalate_to = {};
    std::vector<std::string> groups = {};
    int quorum = 0;
};

/// The body of POST /v1/requests. Reads the files that are named. The kind follows from the flags
/// where it is not given; flags of different kinds together are refused.
Result<json::value> build_proposal(const ProposalFlags& flags);

/// Parses JSON that a person gave; `name` says where it came from in the error.
Result<json::value> parse_given_json(std::string_view text, std::string_view name);

}  // namespace holdpoint::cli
