#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/arena.h"
#include "policy/cel/type.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {

/// Where a variable finds its value in an Activation.
using Slot = std::uint32_t;

/// What an implementation of a function may use besides its arguments.
class Call {
  public:
    Call(Arena& arena, std::int64_t& steps) : arena_(arena), steps_(steps) {}

    Arena& arena() { return arena_; }

    /// Pays for work that grows with the data; about one step per 32 bytes or per element. False
    /// if the budget is used up: the result no longer matters, return at once.
    bool charge(std::size_t steps) {
        steps_ -= static_cast<std::int64_t>(steps);
        return steps_ >= 0;
    }

    /// An error value with a message built at run time.
    Value fail(Fault fault, std::string_view message) {
        return Value::error(fault, arena_.copy(message));
    }

  private:
    Arena& arena_;
    std::int64_t& steps_;
};

/// Must be pure: the same arguments give the same value, and calls with constant arguments are
/// evaluated once when the program is compiled. Arguments are of the kinds the overload declares
/// and never errors. A failure is an error value, never an exception.
using Implementation = std::function<Value(Call&, std::span<const Value>)>;

struct Overload {
    std::vector<Type> parameters;  ///< of a method, the receiver comes first
    Type result;
    bool is_method = false;         ///< `text.trim()` instead of `trim(text)`
    Implementation implementation;  ///< may be empty if programs are only checked
    std::uint32_t cost = 1;         ///< steps that a call takes at least
    /// Whether the work grows with the text or list given; the cost estimate then assumes the
    /// largest.
    bool is_linear = false;
    bool is_variadic = false;  ///< the last parameter may be given more than once
};

/// What programs may name: variables, functions, and the switches of the language. Built once, then
/// only read: compile() takes it const, from any thread. The CEL standard library and the
/// extensions strings, math, network, optionals, bindings, two-variable macros and encoders are
/// always there.
class Environment {
  public:
    struct Switches {
        /// Lets the checker accept `args.amount > 500` with a double and an int; the same for `==`,
        /// `!=` and `in`. At run time numbers of different kinds always compare by value.
        bool cross_type_numeric_comparison = false;
        /// `has`, `all`, `exists`, `map` … Off, they are calls of unknown functions.
        bool macros = true;
        /// Off, every expression is `dyn` and what is wrong becomes an evaluation error.
        bool check = true;
        /// Lets `matches` take a pattern, and functions of time a zone, that is not a constant.
        /// Patterns are then compiled, and zones loaded, while evaluating.
        bool variable_patterns = false;
        /// The test macros cel.block, cel.index and cel.iterVar of the conformance suite.
        bool block_macros = false;
    };

    Environment();
    ~Environment();
    Environment(Environment&&) noexcept;
    Environment& operator=(Environment&&) noexcept;
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    Switches& switches() { return switches_; }
    const Switches& switches() const { return switches_; }

    /// Names are looked up as `a.b.name`, `a.name`, `name` in the container `a.b`.
    void set_container(std::string name) { container_ = std::move(name); }
    const std::string& container() const { return container_; }

    /// Slots count up from 0. The name may be dotted, and the longest declared prefix of
    /// `a.b.c` wins: `args.amount` declared beside `args` is read from its own slot, `has` asks
    /// whether that slot is bound, and an unbound slot reads as a missing field. Declaring a name
    /// again changes its type and keeps its slot.
    Slot declare_variable(std::string name, Type type);

    /// Adds to the overloads of a name, which may be dotted: `path.under`. Overloads of one name
    /// must differ in number or kinds of parameters; the first that fits is called.
    void declare_function(std::string_view name, Overload overload);

    struct Variable {
        std::string name;
        Type type;
    };
    const std::vector<Variable>& variables() const { return variables_; }  ///< by slot
    const Variable* variable(std::string_view name, Slot* slot = nullptr) const;

    /// Every overload of a function, its own first, then the library's; empty if unknown.
    std::vector<std::shared_ptr<const Overload>> overloads(std::string_view name) const;

  private:
    Switches switches_;
    std::string container_;
    std::vector<Variable> variables_;
    std::map<std::string, Slot, std::less<>> slots_;
    std::map<std::string, std::vector<std::shared_ptr<const Overload>>, std::less<>> functions_;
};

}  // namespace holdpoint::cel
