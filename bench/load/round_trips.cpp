#include <fmt/format.h>

#include "modes.h"
#include "wire.h"

namespace holdpoint::load {
namespace {

/// How long the waiter stands before the person decides, in mode latency.
constexpr std::chrono::milliseconds parked_for{10};

/// What all clients share.
struct Run {
    Run(const Options& given, double seconds)
        : options(given), agents(given.agent_keys), people(given.person_keys), window(seconds) {}

    const Options& options;
    Keys agents, people;
    Window window;
    Errors errors;
    Loop loop;
    std::int64_t nonce = 0;
    int running = 0;
    Latencies create, resume, acknowledge, total;
};

/// An agent and a person, each with a connection and a key of their own. The agent proposes and
/// waits, the person decides; when the agent has its answer and the person the acknowledgement,
/// the next round begins.
class Client {
  public:
    Client(Run& run, std::size_t number)
        : run_(run),
          agent_key_(run.agents[number]),
          person_key_(run.people[number]),
          session_(fmt::format("bench-{}", number)),
          agent_(run.loop, run.options.port),
          person_(run.loop, run.options.port) {}

    void begin() {
        missing_ = 2;
        note_ = fmt::format("nonce-{}", ++run_.nonce);
        created_ = SteadyTime::now();
        agent_.send(create(agent_key_, session_, run_.nonce, run_.options.bytes),
                    [this](const Answer& answer) { on_created(answer); });
    }

  private:
    void on_created(const Answer& answer) {
        if (!run_.errors.check(answer, 201)) return begin();
        stored_ = answer.at;
        id_ = id_of(answer.body);
        agent_.send(wait(agent_key_, id_, 60), [this](const Answer& a) { on_resumed(a); });
        if (run_.options.mode == "latency")
            run_.loop.at(SteadyTime::now() + parked_for, [this] { send_decision(); });
        else
            send_decision();
    }
    void send_decision() {
        decided_ = SteadyTime::now();
        person_.send(decide(person_key_, id_, note_), [this](const Answer& answer) {
            run_.errors.check(answer, 200);
            acknowledged_ = answer.at;
            on_part_done();
        });
    }
    void on_resumed(const Answer& answer) {
        resumed_ = answer.at;
        if (run_.errors.check(answer, 200) && !is_decided_with(answer.body, note_))
            run_.errors.add(fmt::format("`{}` got another decision", id_));
        on_part_done();
    }
    void on_part_done() {
        if (--missing_ > 0) return;
        const TimePoint done = std::max(resumed_, acknowledged_);
        if (run_.window.holds(done)) {
            run_.create.add(stored_ - created_);
            run_.resume.add(resumed_ - decided_);
            run_.acknowledge.add(acknowledged_ - decided_);
            run_.total.add(done - created_);
        }
        if (!run_.window.is_over(done)) return begin();
        if (--run_.running == 0) run_.loop.stop();
    }

    Run& run_;
    const std::string agent_key_, person_key_, session_;
    Connection agent_, person_;
    std::string id_, note_;
    int missing_ = 0;
    TimePoint created_, stored_, decided_, resumed_, acknowledged_;
};

}  // namespace

std::string round_trips(const Options& options) {
    Run run(options, options.seconds);
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < options.clients; ++i)
        clients.push_back(std::make_unique<Client>(run, static_cast<std::size_t>(i)));
    run.running = options.clients;
    const double cpu = cpu_s();
    const TimePoint start = SteadyTime::now();
    for (const auto& client : clients) client->begin();
    run.loop.run();
    const double elapsed = std::chrono::duration<double>(SteadyTime::now() - start).count();
    return fmt::format(
        R"({{"mode":"{}","clients":{},"per_s":{:.1f},"count":{},"errors":{},"resume_ms":{},)"
        R"("create_ms":{},"acknowledge_ms":{},"total_ms":{},"driver_cores":{:.3f}}})",
        options.mode, options.clients, static_cast<double>(run.total.size()) / run.window.seconds(),
        run.total.size(), run.errors.count(), run.resume.json(), run.create.json(),
        run.acknowledge.json(), run.total.json(), (cpu_s() - cpu) / elapsed);
}

}  // namespace holdpoint::load
