#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/agent/live_server.h"

/// The two worlds in which the library works, behind one face, so that the same promises are tested
/// in both: the engine in this process, and a server in another one.
namespace holdpoint::test {

/// Everything waits for a person, plans and final answers too; `drop` is never done.
inline constexpr const char* strict_policy =
    "holdpoint: 1\n"
    "policy: worlds\n"
    "gates:\n"
    "  plans: {type: plan_approval}\n"
    "  answers: {type: final_response}\n"
    "rules:\n"
    "  - {id: never, tools: [drop], then: deny, because: not here}\n";

class World {
  public:
    explicit World(std::deque<Decision> answers) : people(std::move(answers)) {}
    virtual ~World() = default;
    virtual Holdpoint open(const Labels& labels = {}, const Executor& resume_on = {}) = 0;

    People people;
};

class EmbeddedWorld : public World {
  public:
    using World::World;
    Holdpoint open(const Labels& labels, const Executor& resume_on) override {
        EmbeddedOptions options;
        options.policy = strict_policy;
        options.human = people.interface();
        options.person = "ann";
        options.labels = labels;
        options.resume_on = resume_on;
        if (!labels.session.empty()) options.data = folder_.path;
        return opened(std::move(options));
    }

  private:
    Folder folder_;
};

/// People who listen to the server's events and decide over the network, with a key of their own.
class ServerWorld : public World {
  public:
    explicit ServerWorld(std::deque<Decision> answers)
        : World(std::move(answers)), key_(server.new_key("agent", "agent")) {
        ann_.emplace(connected(server.new_key("approver", "ann")));
        person_ = std::jthread([this](const std::stop_token& stop) {
            (void)ann_->events(
                {.after = 0},
                [&](const Event& event) {
                    const bool is_asked =
                        event.name == "approval-required" || event.name == "decision-recorded";
                    if (is_asked) ask_again(event.request.id);
                    return true;
                },
                stop);
        });
    }
    Holdpoint open(const Labels& labels, const Executor& resume_on) override {
        return connected(key_, labels, resume_on);
    }

    /// Puts a request before the people. An answer that is not taken is followed by the next one.
    void ask_again(const std::string& id) {
        const Result<Request> request = ann_->find(id);
        while (request && !request->is_settled()) {
            const std::optional<Decision> decision = people.take(*request);
            if (!decision) return;
            const Result<Request> decided = ann_->decide(id, *decision);
            if (decided) return;
            people.tell(decided.error().message);
        }
    }

    LiveServer server{strict_policy};

  private:
    Holdpoint connected(const std::string& key, const Labels& labels = {},
                        const Executor& resume_on = {}) {
        Result<Holdpoint> holdpoint =
            Holdpoint::connect({.url = server.url(),
                                .key = key,
                                .unreachable_after = std::chrono::milliseconds(500),
                                .state = folder_.path,
                                .labels = labels,
                                .resume_on = resume_on});
        if (!holdpoint) throw std::runtime_error(holdpoint.error().message);
        return std::move(*holdpoint);
    }
    Folder folder_;
    std::string key_;
    std::optional<Holdpoint> ann_;
    std::jthread person_;
};

}  // namespace holdpoint::test
