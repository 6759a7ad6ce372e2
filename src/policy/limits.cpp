#include "policy/judge.h"

namespace holdpoint::policy {
namespace {

double spent_in(const Spent& spent, Window window) {
    switch (window) {
        case Window::call:
            return 0;
        case Window::task:
            return spent.task;
        case Window::session:
            return spent.session;
        case Window::day:
            break;
    }
    return spent.day;
}

}  // namespace

// Written so that a value which is no number passes every threshold.
Match3 passes_limit(const Gate& gate, const Call& call, const StateView& state,
                    const std::optional<CostEstimate>& estimate) {
    if (gate.type == GateType::threshold_based) {
        if (!call.confidence) return Match3::no;
        return !(*call.confidence >= *gate.confidence_below) ? Match3::yes : Match3::no;
    }
    if (gate.type != GateType::budget_based) return Match3::yes;
    if (gate.tokens_above && !(spent_in(state.tokens, gate.window) <= *gate.tokens_above))
        return Match3::yes;
    if (!gate.cost_above) return Match3::no;
    if (!estimate) return Match3::error;
    const double sum = spent_in(state.cost, gate.window) + estimate->highest;
    return !(sum <= *gate.cost_above) ? Match3::yes : Match3::no;
}

}  // namespace holdpoint::policy
