#pragma once

#include <string>
#include <vector>

#include "cli/app.h"

/// The commands of `holdpoint policy`. Those that take Flags need no server.
namespace holdpoint::cli {

/// What the family's commands were given; each reads its own part.
struct PolicyOptions {
    std::string file;
    std::string call_file;  ///< `-` is standard input
    std::string other_file;
    std::string since;
    std::string name;  ///< of a preset or a version
    std::vector<std::string> acknowledged;
    bool is_list = false;
    int approvals_min = 0;
};

// policy_check.cpp: what a file is, by itself.
ExitCode check_policy(const Flags& flags, const PolicyOptions& options);
ExitCode test_policy(const Flags& flags, const PolicyOptions& options);
ExitCode diff_policies(const Flags& flags, const PolicyOptions& options);
ExitCode print_presets(const Flags& flags, const PolicyOptions& options);

// policy_explain.cpp: what it says to calls. Asks the server where no file is named.
ExitCode explain_calls(const Flags& flags, const PolicyOptions& options);

// policy_versions.cpp: what is in force.
ExitCode show_policy(Session& session, const PolicyOptions& options);
ExitCode apply_policy(Session& session, const PolicyOptions& options);
ExitCode reload_policy(Session& session, const PolicyOptions& options);

// policy_history.cpp: what it would have done.
ExitCode backtest_policy(Session& session, const PolicyOptions& options);
ExitCode suggest_rules(Session& session, const PolicyOptions& options);

}  // namespace holdpoint::cli
