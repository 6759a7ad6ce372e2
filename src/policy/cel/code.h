#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <re2/re2.h>

#include "policy/cel/environment.h"
#include "policy/cel/map_table.h"
#include "policy/cel/program.h"
#include "policy/cel/source.h"
#include "policy/cel/value.h"

namespace holdpoint::cel {

enum class Op : std::uint8_t {
    constant,         ///< a: constant
    failure,          ///< a: constant, an error
    slot,             ///< a: slot
    local,            ///< a: local
    slot_field,       ///< a: slot, b: name (constant), c: declared type + 1
    select,           ///< a: node, b: name (constant), c: declared type + 1
    has_slot,         ///< a: slot
    has_field,        ///< a: node, b: name (constant)
    optional_select,  ///< a: node, b: name (constant)
    index,            ///< a, b: nodes
    optional_index,   ///< a, b: nodes
    conjunction,      ///< a: first child, count
    disjunction,      ///< a: first child, count
    conditional,      ///< a, b, c: nodes
    logical_not,      ///< a: node
    negate,           ///< a: node
    equal,            ///< a, b: nodes, to modulo
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    in_set,    ///< a: node, b: set
    matches,   ///< a: node, b: regex
    call,      ///< a: first child, count, b: function
    list,      ///< a: first child, count
    map,       ///< a: first child, count: keys and values
    loop_all,  ///< loops: a: range, b: body, c: condition + 1, count: first local, flag: two
    loop_exists,
    loop_exists_one,
    loop_map,
    loop_filter,
    loop_transform_map,
    loop_transform_map_entry,
    bind,          ///< a: bound, b: body, count: local
    opt_map,       ///< the same
    opt_flat_map,  ///< the same
};

struct Node {
    Op op = Op::constant;
    std::uint8_t flag = 0;
    std::uint16_t count = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
};
static_assert(sizeof(Node) == 16);

/// Overloads that a call may mean, told apart by the kinds of its arguments.
struct FunctionCode {
    struct Candidate {
        std::shared_ptr<const Overload> overload;
        std::vector<std::uint32_t> kinds;  ///< one bit per Kind that the parameter takes
    };
    std::string name;
    std::vector<Candidate> candidates;
};

/// A compiled program: nodes in one array, children before their parents, and what they refer to.
struct Code {
    std::string source;
    std::vector<Node> nodes;
    std::vector<std::uint32_t> children;
    std::vector<bool> optional_children;  ///< beside `children`: written `?x`
    std::vector<Value> constants;
    std::vector<Type> types;  ///< declared types of fields
    std::vector<const ConstantSet*> sets;
    std::vector<std::unique_ptr<re2::RE2>> regexes;
    std::vector<FunctionCode> functions;
    std::uint32_t root = 0;
    std::uint32_t local_count = 0;

    // Not needed to evaluate.
    std::vector<Span> spans;           ///< by node, for conjuncts
    std::vector<std::uint32_t> marks;  ///< by node, where to point for an error
    std::vector<std::uint16_t> paths;  ///< by node, number in `reads` + 1, or 0
    Type result_type;
    std::vector<Program::Read> reads;
    std::uint64_t cost = 0;
    std::size_t expression_count = 0;
    Arena arena;  ///< the text and elements of constants
};

/// The kinds that a value of this type may have at run time, one bit each.
std::uint32_t kinds_of(const Type& type);

inline constexpr std::size_t regex_subject_max = 64 * 1024;

}  // namespace holdpoint::cel
