#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/request.h"

namespace holdpoint::core {

/// The object a request is about, checked and completed with its defaults.
struct Subject {
    JsonText text;         ///< canonical
    std::string tool;      ///< of an action
    std::string headline;  ///< one line for people, made by us from the canonical form
};

/// Checks the object named like the kind. Errors name the field below `path`.
Result<Subject> check_subject(Kind kind, const boost::json::value& object, std::string_view path);

/// What a modification may put in place of the arguments, the plan or the response text object.
/// Returns the whole subject with the change; `refused` for kinds that cannot be modified.
Result<Subject> modify_subject(Kind kind, const JsonText& subject, const JsonText& replacement);

/// The plan with only the steps whose order is listed; every other step must be optional.
Result<Subject> keep_steps(const JsonText& plan, const std::vector<int>& orders);

/// The part of the subject that people may change: arguments of an action, else all of it.
std::string_view changeable_part(Kind kind, const JsonText& subject);

/// Checks an answer against the input it answers; returns its canonical text.
Result<JsonText> check_answer(const JsonText& input, const boost::json::value& answer);

/// `process_refund(amount: 50000, orderId: "1234")`, cut to a line. Arguments with secret names,
/// and those that the operator wants redacted, show as dots: the line is read on lists and phones.
std::string action_headline(std::string_view tool, const boost::json::object& arguments,
                            const std::vector<std::string>& redacted = {});

}  // namespace holdpoint::core
