#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace holdpoint::server {

struct Metrics::Families {
    prometheus::Registry registry;

    prometheus::Gauge& gauge(const char* name, const char* help) {
        return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
    }

    prometheus::Gauge& pending = gauge("holdpoint_pending", "requests that wait for a person");
    prometheus::Gauge& waiters = gauge("holdpoint_waiters", "agents that wait for an answer");
    prometheus::Gauge& streams = gauge("holdpoint_streams", "open event streams");
    prometheus::Gauge& connections = gauge("holdpoint_connections", "open connections");
    prometheus::Gauge& skew =
        gauge("holdpoint_clock_skew_seconds", "wall clock against the time deadlines follow");
    prometheus::Gauge& policy_failed =
        gauge("holdpoint_policy_reload_failed", "1 while the file on disk is not what is in force");
    prometheus::Family<prometheus::Gauge>& settled = prometheus::BuildGauge()
                                                         .Name("holdpoint_settled_total")
                                                         .Help("requests that ended, by outcome")
                                                         .Register(registry);
    prometheus::Gauge& http_requests =
        gauge("holdpoint_http_requests_total", "HTTP requests answered");
    prometheus::Gauge& http_errors =
        gauge("holdpoint_http_errors_total", "HTTP requests that were not well-formed");
    prometheus::Histogram& decision_time =
        prometheus::BuildHistogram()
            .Name("holdpoint_decision_seconds")
            .Help("from proposal to a person's decision")
            .Register(registry)
            .Add({},
                 prometheus::Histogram::BucketBoundaries{1, 5, 15, 30, 60, 300, 900, 3600, 86400});
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::on_commit(const std::vector<store::Change>& changes) {
    for (const store::Change& change : changes) {
        if (change.event.event.kind != core::EventKind::settled || !change.request->decision)
            continue;
        families_->decision_time.Observe(
            static_cast<double>(*change.request->settled_at - change.request->created_at) / 1000);
    }
}

std::string Metrics::text(const Reading& reading) {
    Families& f = *families_;
    f.pending.Set(static_cast<double>(reading.counters.pending));
    for (const auto& [outcome, count] : reading.counters.by_outcome)
        f.settled.Add({{"outcome", std::string(to_string(outcome))}})
            .Set(static_cast<double>(count));
    f.waiters.Set(static_cast<double>(reading.waiters));
    f.streams.Set(static_cast<double>(reading.streams));
    f.connections.Set(static_cast<double>(reading.http.open));
    f.http_requests.Set(static_cast<double>(reading.http.requests));
    f.http_errors.Set(static_cast<double>(reading.http.errors));
    f.skew.Set(static_cast<double>(reading.clock_skew_ms) / 1000);
    return prometheus::TextSerializer().Serialize(f.registry.Collect());
}

void Metrics::on_policy(bool is_in_force) { families_->policy_failed.Set(is_in_force ? 0 : 1); }

}  // namespace holdpoint::server
