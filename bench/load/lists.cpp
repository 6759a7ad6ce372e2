#include <fmt/format.h>

#include <algorithm>

#include "modes.h"
#include "wire.h"

namespace holdpoint::load {
namespace {

/// One kind of question; `target` may change from time to time.
struct Question {
    std::string name;
    std::move_only_function<std::string(std::size_t turn)> target;
    int expected;  ///< requests in the answer
    Latencies latencies;
};

/// Asks each question in turn, so that a disturbance of the machine hits all alike, and decides
/// one request per round. The store was made by bench/fill: every answer has the same number of
/// requests however many are stored, and that is checked, since only then can stores of different
/// sizes be compared.
class Lists {
  public:
    explicit Lists(const Options& options)
        : options_(options),
          people_(options.person_keys),
          ids_(read_ids(options.ids)),
          person_(loop_, options.port) {
        add("newest", "limit=50", 50);
        add("pending", "state=pending&limit=50", 50);
        add("tool", "tool=process_refund&limit=50", 50);
        add("pending of a tool", "state=pending&tool=process_refund&limit=50", 50);
        add("agent and risk", "agent=bench-agent-0&risk=high&limit=50", 50);
        add("unknown tool", "tool=never_used&limit=50", 0);
        add("unknown tool of a busy agent", "agent=bench-agent-0&tool=never_used&limit=50", 0);
        add("unknown user", "state=pending&user=nobody&limit=50", 0);
        add("none settled so", "outcome=rejected&limit=50", 0);
        const auto of_session = [this](std::size_t turn) {
            return "/v1/requests?session=" + some(turn).second + "&limit=50";
        };
        const auto by_id = [this](std::size_t turn) { return "/v1/requests/" + some(turn).first; };
        questions_.push_back({"session", of_session, 50, {}});
        questions_.push_back({"one", by_id, 1, {}});
    }

    std::string run() {
        const Window window(options_.seconds);
        std::size_t next = options_.offset;
        const std::size_t last =
            options_.count > 0
                ? std::min(ids_.size(), next + static_cast<std::size_t>(options_.count))
                : ids_.size();
        for (std::size_t turn = 0; next < last && !window.is_over(SteadyTime::now()); ++turn) {
            const bool is_counted = window.has_begun(SteadyTime::now());
            for (Question& question : questions_) {
                const auto time = ask(get(people_[0], question.target(turn)), question.expected);
                if (is_counted) question.latencies.add(time);
            }
            const auto time = ask(decide(people_[0], ids_[next++].first, "seen"), 1);
            if (is_counted) decide_.add(time);
        }
        std::string text = fmt::format(R"({{"mode":"list","errors":{},"next":{},"decide_ms":{})",
                                       errors_.count(), next, decide_.json());
        text += R"(,"list_ms":{)";
        for (Question& question : questions_)
            text += fmt::format("{}\"{}\":{}", &question == questions_.data() ? "" : ",",
                                question.name, question.latencies.json());
        return text + "}}";
    }

  private:
    void add(const char* name, const std::string& query, int expected) {
        questions_.push_back(
            {name, [query](std::size_t) { return "/v1/requests?" + query; }, expected, {}});
    }
    /// Spread over the whole store, away from what is decided next.
    const std::pair<std::string, std::string>& some(std::size_t turn) const {
        return ids_[(turn * 7919 + ids_.size() / 2) % ids_.size()];
    }
    std::chrono::nanoseconds ask(const std::string& request, int expected) {
        const TimePoint start = SteadyTime::now();
        const int status = person_.call(request, &body_);
        const TimePoint end = SteadyTime::now();
        int found = 0;
        constexpr std::string_view once_in_each = R"("url":"/r/req_)";
        for (std::size_t at = 0; (at = body_.find(once_in_each, at)) != body_.npos; ++at) ++found;
        if (status != 200 || found != expected)
            errors_.add(fmt::format("status {}, {} requests instead of {} for {}", status, found,
                                    expected, request.substr(0, request.find('\r'))));
        return end - start;
    }

    const Options& options_;
    const Keys people_;
    const std::vector<std::pair<std::string, std::string>> ids_;
    Loop loop_;
    Connection person_;
    std::vector<Question> questions_;
    Latencies decide_;
    std::string body_;
    Errors errors_;
};

}  // namespace

std::string list(const Options& options) { return Lists(options).run(); }

}  // namespace holdpoint::load
