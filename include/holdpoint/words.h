#pragma once

#include "core/words.h"

namespace holdpoint {

// The words that requests and decisions are made of; the same everywhere, also on the wire.
using core::DecisionKind;
using core::EventKind;
using core::Kind;
using core::Outcome;
using core::RiskLevel;
using core::State;
using core::TimeoutAction;
using core::VerdictKind;

}  // namespace holdpoint
