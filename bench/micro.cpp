// The pure parts, one call at a time: what a request costs in the processor before any I/O.
//
//   micro [--benchmark_filter=…]

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "api/wire/decide.h"
#include "api/wire/request.h"
#include "api/wire/submit.h"
#include "base/json.h"
#include "base/sha256.h"
#include "core/decide.h"
#include "core/digest.h"
#include "core/open.h"
#include "policy/builtin.h"
#include "service/submit.h"

namespace {

using namespace holdpoint;

/// 1.5 KB, the size reference figures for JSON parsers were taken with.
const std::string& proposal_text() {
    static const std::string text = [] {
        std::string body =
            R"({"kind":"action","session":"s-1","thread":"t-1","user":"ann","action":{"tool":)"
            R"("process_refund","description":"Refund an order that arrived broken","arguments":)"
            R"({"orderId":"1234","amount":12500.75,"currency":"EUR","lines":[{"sku":"A-1","count":)"
            R"(2,"price":19.99},{"sku":"B-7","count":1,"price":149.5}],"notify":true,"memo":")";
        const std::string end =
            R"("}},"risk":{"level":"high","factors":["amount above the limit"],"confidence":0.8},)"
            R"("context":{"user_prompt":"Please refund my order","task_description":"support"}})";
        while (body.size() + end.size() < 1500)
            body += "the customer sent pictures; "[body.size() % 28];
        return body + end;
    }();
    return text;
}

/// Setting up must not fail silently: a benchmark of an error path would look very fast.
template <class T>
T must(Result<T> result) {
    if (!result) {
        std::fprintf(stderr, "micro: %s\n", result.error().message.c_str());
        std::exit(1);
    }
    return std::move(*result);
}

core::Proposal proposal() {
    return must(wire::parse_proposal(must(json::parse(proposal_text())), ""));
}

core::Actor agent() {
    return {PrincipalId::fresh({1}), "billing-bot", true, {}, "api", "127.0.0.1"};
}
core::Actor person() { return {PrincipalId::fresh({1}), "ann", false, {}, "api", "127.0.0.1"}; }

constexpr Timestamp start{1'800'000'000'000};

core::Opening opening() { return {RequestId::fresh(start), std::nullopt, agent(), "", start}; }

core::Request request() {
    const core::Proposal asked = proposal();
    return must(core::open(asked, policy::evaluate({}, asked), opening())).request;
}

void parse_and_canonical(benchmark::State& state) {
    for (auto _ : state) {
        const Result<json::value> value = json::parse(proposal_text());
        benchmark::DoNotOptimize(json::canonical(*value));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * proposal_text().size()));
}
BENCHMARK(parse_and_canonical);

void parse_only(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(json::parse(proposal_text()));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * proposal_text().size()));
}
BENCHMARK(parse_only);

void wire_parse_proposal(benchmark::State& state) {
    const json::value body = must(json::parse(proposal_text()));
    for (auto _ : state) benchmark::DoNotOptimize(wire::parse_proposal(body, ""));
}
BENCHMARK(wire_parse_proposal);

void wire_to_json(benchmark::State& state) {
    const core::Request pending = request();
    for (auto _ : state) benchmark::DoNotOptimize(wire::to_json(pending));
}
BENCHMARK(wire_to_json);

void policy_evaluate(benchmark::State& state) {
    const core::Proposal asked = proposal();
    const auto policy = policy::compose({});
    for (auto _ : state) benchmark::DoNotOptimize(policy::evaluate(*policy, asked, {}));
}
BENCHMARK(policy_evaluate);

/// What policy says of a proposal that waits for people, on the network thread before the
/// transaction.
void service_foresee(benchmark::State& state) {
    const auto policy = policy::compose({});
    service::SubmitCall call;
    call.proposals = {proposal()};
    call.ids = {RequestId::fresh(start)};
    call.agent = agent();
    call.now = start;
    if (!service::foresee(*policy, call).front()) std::exit(1);
    for (auto _ : state) benchmark::DoNotOptimize(service::foresee(*policy, call));
}
BENCHMARK(service_foresee);

void core_open(benchmark::State& state) {
    const core::Proposal asked = proposal();
    const core::Verdict verdict = policy::evaluate({}, asked);
    const core::Opening how = opening();
    for (auto _ : state) benchmark::DoNotOptimize(core::open(asked, verdict, how));
}
BENCHMARK(core_open);

/// The copy of the request is part of it: deciding takes the request by value.
void core_decide(benchmark::State& state) {
    const core::Request pending = request();
    core::DecisionCommand command;
    command.kind = core::DecisionKind::approve;
    command.note = "fine";
    const core::Actor ann = person();
    must(core::decide(pending, command, ann, start + 1000));
    for (auto _ : state)
        benchmark::DoNotOptimize(core::decide(pending, command, ann, start + 1000));
}
BENCHMARK(core_decide);

void core_digest(benchmark::State& state) {
    const core::Request pending = request();
    for (auto _ : state) benchmark::DoNotOptimize(core::digest_of(pending));
}
BENCHMARK(core_digest);

void sha256_of_a_proposal(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(sha256(proposal_text()));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * proposal_text().size()));
}
BENCHMARK(sha256_of_a_proposal);

}  // namespace

BENCHMARK_MAIN();
