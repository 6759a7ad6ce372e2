#include "policy/cel/program.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/cel/checker.h"
#include "policy/cel/code.h"
#include "policy/cel/compiler.h"
#include "policy/cel/parser.h"

namespace holdpoint::cel {

Result<Program> compile(std::string_view source, const Environment& environment,
                        const Limits& limits) {
    if (source.size() > limits.source_bytes_max) {
        return Error{ErrorCode::too_large, fmt::format("1:1: the expression has {} bytes, at most "
                                                       "{} are allowed",
                                                       source.size(), limits.source_bytes_max)};
    }
    auto code = std::make_shared<Code>();
    code->source = source;
    Ast ast;
    std::optional<Complaint> complaint = parse(source, environment.switches(), limits, ast);
    Checked checked;
    if (!complaint) complaint = check(ast, environment, limits, checked);
    if (!complaint) complaint = emit(ast, checked, environment.switches(), limits, *code);
    if (complaint) return to_error(*complaint, source);
    return Program(std::move(code));
}

const Type& Program::result_type() const { return code_->result_type; }
std::string_view Program::source() const { return code_->source; }
const std::vector<Program::Read>& Program::reads() const { return code_->reads; }
std::vector<Slot> Program::slots() const {
    std::vector<Slot> slots;
    for (const Node& node : code_->nodes) {
        if (node.op == Op::slot || node.op == Op::has_slot || node.op == Op::slot_field)
            slots.push_back(node.a);
    }
    std::ranges::sort(slots);
    slots.erase(std::ranges::unique(slots).begin(), slots.end());
    return slots;
}
std::uint64_t Program::static_cost() const { return code_->cost; }
bool Program::has_regex() const { return !code_->regexes.empty(); }
std::size_t Program::node_count() const { return code_->expression_count; }

std::vector<std::string_view> Program::conjuncts() const {
    const Node& root = code_->nodes[code_->root];
    if (root.op != Op::conjunction) return {code_->source};
    std::vector<Span> spans;
    for (std::uint32_t i = 0; i < root.count; ++i) {
        spans.push_back(code_->spans[code_->children[root.a + i]]);
    }
    std::ranges::sort(spans, {}, &Span::begin);
    std::vector<std::string_view> texts;
    for (const Span& span : spans) texts.push_back(span.of(code_->source));
    return texts;
}

Position Program::position(const Value& error) const {
    const std::uint16_t node = error.failed_node();
    if (!error.is_error() || node >= code_->marks.size()) return {};
    return position_of(code_->source, code_->marks[node]);
}

}  // namespace holdpoint::cel
