#include "policy/cel/cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace holdpoint::cel {
namespace {

bool is_text(const Type& type) {
    return type.kind() == Type::Kind::string || type.kind() == Type::Kind::bytes;
}

/// Walking through a value once.
std::uint64_t walk_cost(const Operand& operand) {
    return is_text(operand.type) ? operand.size / 32 : operand.size;
}

}  // namespace

std::uint64_t estimated_size(const Type& type, const Limits& limits) {
    switch (type.kind()) {
        case Type::Kind::list:
        case Type::Kind::map:
        case Type::Kind::dynamic:
            return type.size_max() == 0 ? limits.list_size_max : type.size_max();
        case Type::Kind::string:
        case Type::Kind::bytes:
            return type.size_max() == 0 ? limits.string_bytes_max : type.size_max();
        default:
            return 1;
    }
}

std::uint64_t operator_cost(Op op, const std::vector<Operand>& operands) {
    std::uint64_t cost = 1;
    for (const Operand& operand : operands) cost = add_cost(cost, operand.cost);
    switch (op) {
        case Op::conditional: {
            const std::uint64_t branch = std::max(operands[1].cost, operands[2].cost);
            return add_cost(add_cost(operands[0].cost, branch), 1);
        }
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal:
            return add_cost(cost, std::min(walk_cost(operands[0]), walk_cost(operands[1])));
        case Op::in:
            if (operands[1].type.kind() == Type::Kind::map) return cost;
            return add_cost(cost, operands[1].size);
        case Op::add:
            if (operands[0].type.is_numeric()) return cost;
            return add_cost(cost, add_cost(walk_cost(operands[0]), walk_cost(operands[1])));
        default:
            return cost;
    }
}

std::unique_ptr<re2::RE2> compile_pattern(std::string_view pattern, const Limits& limits,
                                          std::string& fault) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(static_cast<std::int64_t>(limits.regex_bytes_max));
    auto regex =
        std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    if (!regex->ok()) {
        fault = fmt::format("not a regular expression: {}", visible(regex->error()));
        return nullptr;
    }
    if (regex->ProgramSize() > limits.regex_program_max) {
        fault = fmt::format("the regular expression is too large ({} instructions, at most {})",
                            regex->ProgramSize(), limits.regex_program_max);
        return nullptr;
    }
    return regex;
}

std::uint32_t kinds_of(const Type& type) {
    const auto bit = [](Kind kind) { return 1U << static_cast<int>(kind); };
    switch (type.kind()) {
        case Type::Kind::null:
            return bit(Kind::null);
        case Type::Kind::boolean:
            return bit(Kind::boolean);
        case Type::Kind::integer:
            return bit(Kind::integer);
        case Type::Kind::unsigned_integer:
            return bit(Kind::unsigned_integer);
        case Type::Kind::real:
            return bit(Kind::real);
        case Type::Kind::string:
            return bit(Kind::string);
        case Type::Kind::bytes:
            return bit(Kind::bytes);
        case Type::Kind::timestamp:
            return bit(Kind::timestamp);
        case Type::Kind::duration:
            return bit(Kind::duration);
        case Type::Kind::ip:
            return bit(Kind::ip);
        case Type::Kind::cidr:
            return bit(Kind::cidr);
        case Type::Kind::type:
            return bit(Kind::type);
        case Type::Kind::list:
            return bit(Kind::list);
        case Type::Kind::map:
        case Type::Kind::object:
            return bit(Kind::map);
        case Type::Kind::optional:
            return bit(Kind::optional);
        case Type::Kind::dynamic:
        case Type::Kind::abstract:
        case Type::Kind::parameter:
            break;
    }
    return ~0U;
}

}  // namespace holdpoint::cel
