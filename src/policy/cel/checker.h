#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/cel/ast.h"
#include "policy/cel/environment.h"
#include "policy/cel/program.h"

namespace holdpoint::cel {

/// What the checker found out about one expression.
struct Note {
    enum class Meaning : std::uint8_t {
        plain,          ///< what its kind says
        slot,           ///< a name or chain of names that is a variable
        local,          ///< the variable of a loop or binding
        type_constant,  ///< a name that stands for a type
        failure,        ///< unchecked programs only: evaluating it is an error, `text` says which
    };

    Type type;
    Meaning meaning = Meaning::plain;
    Slot slot = 0;
    std::uint32_t local = 0;     ///< of names; of loops and bindings the first one they set
    bool is_namespaced = false;  ///< of calls: the target is part of the function's name
    Value constant = {};         ///< a type constant
    Fault fault = Fault::none;   ///< of a failure
    std::string text = {};       ///< of a failure
    std::vector<std::shared_ptr<const Overload>> overloads = {};  ///< of calls, those that fit
};

struct Checked {
    std::vector<Note> notes;  ///< by ExprId
    std::uint32_t local_count = 0;
};

/// Resolves every name and infers every type; nothing on success.
std::optional<Complaint> check(const Ast& ast, const Environment& environment, const Limits& limits,
                               Checked& checked);

}  // namespace holdpoint::cel
