#pragma once

#include <string>

#include "cli/app.h"
#include "cli/resource.h"

namespace holdpoint::cli {

/// Sends a person's decision, bound by its digest to what that person saw.
Call decision_call(const Request& seen, json::object body);

/// A failure in words for the person: a conflict says who decided what.
Failure explained(Failure failure, Timestamp now);

/// What one decision did: `approved`, or `recorded, still needs finance: 1 of 2`.
std::string decision_result(const Request& request, Timestamp now);

/// How sure the person must be before something is released.
struct Sureness {
    bool is_yes = false;       ///< --yes: enough for high risk, never for critical or for a code
    std::string confirm_word;  ///< --confirm: the code, or for critical risk the tool's name
};

/// Says what is about to be decided; to a program that reads JSON only if a person may be asked.
void name_request(const Output& out, const Request& request);

/// Shows the headline and, on a terminal, asks: for the confirmation code where the request has
/// one, else y/n for high risk and the tool's name for critical. Without a terminal a code and a
/// critical risk need `confirm_word`. Answers with the code to send, empty where none is asked for;
/// fails where the person is not sure.
Result<std::string> confirm_release(const Output& out, const Request& request,
                                    const Sureness& sureness);

/// Sends and reports one decision. Where the change in it makes a code necessary, that is asked for
/// as confirm_release() does, and it is sent again with it.
ExitCode send_decision(Session& session, const Request& seen, json::object body,
                       const Sureness& sureness = {});

void add_sureness(Command command, Sureness& sureness);

}  // namespace holdpoint::cli
