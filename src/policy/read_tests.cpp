#include <fmt/format.h>

#include <array>

#include "policy/read.h"

namespace holdpoint::policy::read {
namespace {

using yaml::Kind;
using yaml::Node;

/// `[[finance, 2], [cfo, 1]]`
std::vector<ApproverLine> approvals(const Node& node, Fault& fault) {
    std::vector<ApproverLine> out;
    for (const Node& item : node.items) {
        const bool is_pair = item.is(Kind::list) && item.items.size() == 2 &&
                             item.items[0].is(Kind::text) && item.items[1].is(Kind::integer);
        if (is_pair)
            out.push_back({item.items[0].text, static_cast<int>(item.items[1].integer), item.mark});
        else
            fault.note(item.mark, "an approval is a pair like [finance, 2]");
    }
    return out;
}

void expectation(Section& outer, Test& test) {
    static constexpr std::array<std::string_view, 3> decisions{"allow", "require", "deny"};
    static constexpr std::array<std::string_view, 4> levels{"low", "medium", "high", "critical"};
    const Node* node = outer.find("expect", Kind::map);
    if (!node) return outer.refuse(fmt::format("{} needs `expect`", outer.what()));
    Section section(*node, "expect", outer.fault());
    if (const auto decision = section.word("decision", decisions))
        test.decision = decisions[*decision];
    if (const auto level = section.word("risk", levels)) test.risk = levels[*level];
    const auto take = [&](std::optional<std::string>& out, std::string_view key) {
        if (std::string text = section.text(key); !text.empty()) out = std::move(text);
    };
    take(test.rule, "rule");
    take(test.gate, "gate");
    take(test.why, "why");
    if (const Node* list = section.find("approvals", Kind::list))
        test.approvals = approvals(*list, outer.fault());
    if (node->entries.empty()) section.refuse("a test must expect something");
    section.finish();
}

/// The call as one document, the same that `explain` reads from a file.
json::value call_document(Section& section, const Node& node) {
    json::object call;
    const Node* inner = section.find("call", Kind::map);
    if (inner) call = to_json(*inner).as_object();
    for (const std::string_view key :
         {"event", "plan", "response", "input", "confirmation", "context"}) {
        if (const Node* part = section.find(key)) call[key] = to_json(*part);
    }
    if (!inner && !node.find("event"))
        section.refuse(fmt::format("{} needs `call` or `event`", section.what()));
    return call;
}

}  // namespace

Test test(const Node& node, Fault& fault) {
    const Node* name = node.find("name");
    Section section(node, fmt::format("test `{}`", name ? name->text : ""), fault);
    Test test;
    test.mark = node.mark;
    test.name = section.required_text("name");
    test.call = call_document(section, node);
    if (const Node* counters = section.find("counters", Kind::map))
        test.counters = to_json(*counters);
    if (const Node* grants = section.find("grants", Kind::list)) test.grants = to_json(*grants);
    if (const Node* now = section.find("now", Kind::text)) {
        const Result<Timestamp> at = parse_timestamp(now->text);
        if (at)
            test.now = *at;
        else
            section.refuse(*now, "`now` must be a time like 2026-03-02T10:00:00Z");
    }
    expectation(section, test);
    section.finish();
    return test;
}

}  // namespace holdpoint::policy::read
