#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/cel/environment.h"
#include "policy/cel/type.h"

namespace holdpoint::cel {

struct Code;

/// Line and column count from 1, columns in code points.
struct Position {
    int line = 1;
    int column = 1;
};

/// What compile() accepts, and the sizes that its cost estimate assumes.
struct Limits {
    std::size_t source_bytes_max = 4096;
    std::size_t nodes_max = 250;  ///< at most 60,000
    int depth_max = 32;           ///< brackets, calls and conditionals inside each other
    int macro_nesting_max = 2;    ///< `all` inside `exists` is 2
    std::uint64_t cost_max = 0;   ///< of static_cost(); 0 is no limit
    std::size_t list_size_max = 1000;
    std::size_t string_bytes_max = 64 * 1024;
    int regex_program_max = 1000;
    std::size_t regex_bytes_max = 1 << 20;
};

/// A compiled expression. Immutable: may be shared between threads and evaluated in all of them at
/// once. Keeps no reference to the Environment. Copies share the code.
class Program {
  public:
    const Type& result_type() const;
    std::string_view source() const;

    /// What the program reads: a variable, or a chain of fields below one, `args.amount`. Each path
    /// once, in order of appearance, the longest that is written as plain fields.
    struct Read {
        Slot slot = 0;
        std::string path;                 ///< with the variable's name, as in the source
        std::vector<std::string> fields;  ///< below the variable
        Position position;
    };
    const std::vector<Read>& reads() const;
    /// The slots of all variables that an evaluation may look at, each once; nothing else need be
    /// bound.
    std::vector<Slot> slots() const;

    /// Steps that an evaluation may take if lists and strings are as large as declared; for limits
    /// and for putting cheap conditions first. Saturates.
    std::uint64_t static_cost() const;
    bool has_regex() const;
    std::size_t node_count() const;

    /// The conjuncts of a top-level `a && b && c` as source text in their order; the whole source
    /// if there is only one.
    std::vector<std::string_view> conjuncts() const;

    /// Where an error value came from.
    Position position(const Value& error) const;

    const Code& code() const { return *code_; }

  private:
    friend Result<Program> compile(std::string_view, const Environment&, const Limits&);
    explicit Program(std::shared_ptr<const Code> code) : code_(std::move(code)) {}

    std::shared_ptr<const Code> code_;
};

/// Parses, checks and compiles. Fails with invalid_argument (too_large for the limits); the message
/// begins with the place: `1:14: expected …`.
Result<Program> compile(std::string_view source, const Environment& environment,
                        const Limits& limits = {});

}  // namespace holdpoint::cel
