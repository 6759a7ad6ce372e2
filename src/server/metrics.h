#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/http/server.h"
#include "store/store.h"

namespace holdpoint::server {

/// What /metrics shows. Network thread only.
class Metrics {
  public:
    Metrics();
    ~Metrics();

    void on_commit(const std::vector<store::Change>& changes);

    /// After the policy file was read again: whether it is in force now.
    void on_policy(bool is_in_force);

    struct Reading {
        const store::Counters& counters;
        const http::Statistics& http;
        std::size_t waiters = 0;
        std::size_t streams = 0;
        std::int64_t clock_skew_ms = 0;
    };
    /// Prometheus' text format.
    std::string text(const Reading& reading);

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace holdpoint::server
