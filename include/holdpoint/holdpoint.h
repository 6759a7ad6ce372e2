#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdpoint/convert.h>
#include <holdpoint/observer.h>
#include <holdpoint/options.h>
#include <holdpoint/request.h>
#include <holdpoint/result.h>
#include <holdpoint/task.h>

namespace holdpoint {

namespace agent {
class Client;
}

/// Why there is no value: the action was not run, or it ran (already_ran, failed) or may have run
/// (interrupted) and has none to give. Only what was not run may simply be tried again.
enum class Why {
    rejected,     ///< a person said no
    denied,       ///< policy said no
    deferred,     ///< a person wants it done another way
    aborted,      ///< the whole run was stopped, by a person or because nobody answered
    expired,      ///< nobody answered in time
    skipped,      ///< nobody answered in time, and the run should go on without it
    cancelled,    ///< it was withdrawn
    refused,      ///< an Advisor, or the rules of the API, refused it
    stopped,      ///< the caller's stop token or deadline came first
    unavailable,  ///< no server, no store or no person could be reached
    broken,       ///< an answer came that cannot be trusted: not understood, or of another action
    already_ran,  ///< it ran before this process was restarted; `result` is what it gave
    interrupted,  ///< it was started before a restart, and nobody knows how far it came
    failed,       ///< it was released and did run, and ended with an error: what it did is done
};
std::string_view to_string(Why why);

struct NotRun {
    Why why = Why::broken;
    std::string message = {};  ///< a sentence for the model and for people
    std::optional<Request> request = {};
    Json result = {};  ///< of already_ran, and `{"error": …}` of failed
};

/// The value, or why there is none: what did not get a release did not run.
template <class T>
using Run = std::expected<T, NotRun>;

/// How long the caller is willing to wait. Whichever comes first ends the wait; the request is then
/// withdrawn, unless it shall stay for a later process with the same session.
struct Wait {
    std::stop_token stop = {};
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
    bool must_keep_request = false;
};

/// What an action used up; counts towards the budgets of policy.
struct Spent {
    std::optional<double> cost = {};  ///< instead of the estimate, where it is known
    std::int64_t tokens = 0;
};

/// Something that happened to a request.
struct Event {
    std::int64_t seq = 0;  ///< pass it on as `after` to go on behind it
    std::string name;      ///< `approval-required`, `request-settled`, `tool-result`, …
    Request request;
};

struct EventFilter {
    std::string session = {};  ///< only of this session
    std::int64_t after = -1;   ///< -1: only what is new
};

/// Where an agent's actions wait for people. Copies share one connection or one store; any thread.
///
///     Result<Holdpoint> holdpoint = Holdpoint::connect({.key = key});
///     auto refund = holdpoint->gate("process_refund", {"order", "amount"}, process_refund);
///     Run<Receipt> done = refund("1234", 50000);      // asks, waits, runs what was released
///
/// It fails closed: without a release that was understood and that belongs to the action, nothing
/// runs, and the caller learns why. What runs are the arguments of the release: those that a person
/// changed run as changed. Every form that waits has a twin for coroutines, ending in _async; it
/// goes on where `resume_on` says.
class Holdpoint {
  public:
    static Result<Holdpoint> embedded(EmbeddedOptions options);
    static Result<Holdpoint> connect(RemoteOptions options);

    /// Proposes the action and waits until it may run, or may not.
    Run<Release> request(const Action& action, const Wait& wait = {});
    Task<Run<Release>> request_async(Action action, Wait wait = {});

    /// Several actions of one turn, stored together and decided one by one or together. Waits for
    /// all; each has its own answer, in order.
    std::vector<Run<Release>> propose_batch(const std::vector<Action>& actions,
                                            const Wait& wait = {});
    Task<std::vector<Run<Release>>> propose_batch_async(std::vector<Action> actions,
                                                        Wait wait = {});

    /// The plan as it was approved: perhaps changed, perhaps without some of its optional steps.
    Run<Plan> propose_plan(const Plan& plan, const Wait& wait = {});
    Task<Run<Plan>> propose_plan_async(Plan plan, Wait wait = {});

    /// A person's answer, of the type that was asked for; null where none was required.
    Run<Json> ask(const Question& question, const Wait& wait = {});
    Task<Run<Json>> ask_async(Question question, Wait wait = {});

    /// Whether a person confirmed. No answer is no.
    Run<bool> confirm(const Confirmation& confirmation, const Wait& wait = {});
    Task<Run<bool>> confirm_async(Confirmation confirmation, Wait wait = {});

    /// The final answer as it may be given, perhaps with changes.
    Run<std::string> respond(const std::string& text, const Asking& asking = {},
                             const Wait& wait = {});
    Task<Run<std::string>> respond_async(std::string text, Asking asking = {}, Wait wait = {});

    /// request(), then the work with the released arguments, then report(). What the work throws is
    /// reported and thrown on; an Error is reported and comes back as result `{"error": …}`.
    using Work = std::function<Result<Json>(const Json& arguments)>;
    Run<Json> run(const Action& action, const Work& work, const Wait& wait = {});
    Task<Run<Json>> run_async(Action action, Work work, Wait wait = {});

    /// The second half of run(), for whoever has a release already: the action is begun at most
    /// once, also across restarts of a named session. `spent` is asked after the work. Work that
    /// may be repeated, because it only asks through Holdpoint itself, is run again after a
    /// restart.
    Run<Json> run_released(const Release& release, const Work& work,
                           const std::function<Spent()>& spent = {}, bool may_repeat = false);

    /// Wraps a callable so that every call asks first; see Gated. `tool` is the name that policy
    /// and people know it by. A callable that gives an Error comes back as Why::failed: it ran, so
    /// do not call it again as if it had not. The callable takes the arguments as Json …
    template <class F>
        requires std::invocable<F&, const Json&>
    auto gate(std::string tool, F callable);
    /// … or as parameters of its own, named here. Their types need to_json and from_json
    /// (convert.h): texts, numbers, booleans, vectors and optionals have them.
    template <class F>
    auto gate(std::string tool, std::vector<std::string> names, F callable);

    /// A proposal given as the body of the REST API, waited for; for whoever passes requests on.
    /// With the id of what is passed on in `metadata.forwarded_from` asking twice asks once.
    Run<Request> settle(const Json& body, const Wait& wait = {});
    Task<Run<Request>> settle_async(Json body, Wait wait = {});

    /// A person's decision that reached the application by its own ways. A server takes it only
    /// from a person: connected with an approver's key, and never with an agent's.
    Result<Request> decide(const std::string& request_id, const Decision& decision);
    Result<Request> find(const std::string& request_id);
    /// Newest first, at most a hundred.
    Result<std::vector<Request>> list(const std::string& session = {});

    /// Calls `on_event` for everything that happens, until it says false or `stop` comes; on the
    /// thread that called, so that it may use this Holdpoint. Goes on by itself where a connection
    /// breaks; fails with unavailable if it stays broken.
    using OnEvent = std::function<bool(const Event&)>;
    Result<void> events(const EventFilter& filter, const OnEvent& on_event,
                        std::stop_token stop = {});
    /// A thread of its own listens; `on_event` is called where coroutines go on.
    Task<Result<void>> events_async(EventFilter filter, OnEvent on_event,
                                    std::stop_token stop = {});

    /// Facts about tools, for embedded policy; a server has its own and only hears them as claims.
    /// Where a policy file, EmbeddedOptions and several declarations speak of one tool, the
    /// stricter word counts in every point.
    Result<void> declare(const std::vector<ToolFacts>& tools);
    /// The same for as long as what it gives is kept.
    Result<std::shared_ptr<void>> declare_while(const std::vector<ToolFacts>& tools);

    /// They are kept until they are removed as often as they were added; what was added twice is
    /// told once.
    void add(std::shared_ptr<Observer> observer);
    void add(std::shared_ptr<Advisor> advisor);
    void remove(const std::shared_ptr<Observer>& observer);
    void remove(const std::shared_ptr<Advisor>& advisor);
    /// What all advisors want the next prompt to say.
    std::string advice() const;
    /// Tells people something, where they are reached through this process.
    void notify(const Notification& notification);

    const std::string& session() const;
    bool is_remote() const;

    explicit Holdpoint(std::shared_ptr<agent::Client> client) : client_(std::move(client)) {}

  private:
    std::shared_ptr<agent::Client> client_;
};

namespace detail {

/// How run() tells of work that gave an Error.
inline bool is_failure(const Json& result) {
    return result.size() == 1 && result["error"].is_text();
}

}  // namespace detail

/// A callable that asks first. Copies share the callable, which is called by whoever calls them.
template <class T, class... P>
class Gated {
  public:
    /// Asks, waits, and runs what was released. T is what the callable returns; of Result<T> too.
    Run<T> operator()(P... given, const Wait& wait = {}) const {
        Kept kept;
        return concluded(parts_->holdpoint.run(action(given...), keep_in(kept, *parts_), wait),
                         kept);
    }
    Task<Run<T>> async(P... given, Wait wait = {}) const {
        return in_coroutine(parts_, action(given...), std::move(wait));
    }

  private:
    friend class Holdpoint;
    struct Parts {
        Holdpoint holdpoint;
        std::string tool;
        std::function<Json(const P&...)> arguments_of;
        std::move_only_function<Result<T>(const Json& released, bool& has_begun)> call;
    };
    /// What did its work and then gave an Error has failed; where its arguments did not even fit
    /// it, it never began.
    struct Kept {
        std::optional<T> value;
        bool has_begun = false;
    };
    explicit Gated(Parts parts) : parts_(std::make_shared<Parts>(std::move(parts))) {}

    Action action(const P&... given) const {
        return {.tool = parts_->tool, .arguments = parts_->arguments_of(given...)};
    }

    /// The work that keeps its value as it is, beside what is reported of it.
    static Holdpoint::Work keep_in(Kept& kept, Parts& parts) {
        return [&](const Json& released) -> Result<Json> {
            Result<T> given = parts.call(released, kept.has_begun);
            if (!given) return given.error();
            kept.value.emplace(std::move(*given));
            return detail::result_json(*kept.value);
        };
    }

    static Run<T> concluded(const Run<Json>& ran, Kept& kept) {
        if (!ran && ran.error().why == Why::already_ran) {
            const Json& result = ran.error().result;
            if (detail::is_failure(result))
                return std::unexpected(
                    NotRun{Why::failed, result["error"].text_or(""), ran.error().request, result});
            std::optional<T> before = detail::result_from<T>(result);
            if (before) return std::move(*before);
        }
        if (!ran) return std::unexpected(ran.error());
        if (kept.value) return std::move(*kept.value);
        return std::unexpected(NotRun{kept.has_begun ? Why::failed : Why::broken,
                                      (*ran)["error"].text_or("it failed"),
                                      {},
                                      *ran});
    }

    static Task<Run<T>> in_coroutine(std::shared_ptr<Parts> parts, Action action, Wait wait) {
        Kept kept;
        Holdpoint::Work work = keep_in(kept, *parts);
        Task<Run<Json>> running =
            parts->holdpoint.run_async(std::move(action), std::move(work), std::move(wait));
        const Run<Json> ran = co_await running;
        co_return concluded(ran, kept);
    }

    std::shared_ptr<Parts> parts_;
};

namespace detail {

/// The Gated of a callable with parameters of its own.
template <class T, class Parameters>
struct GatedOf;
template <class T, class... P>
struct GatedOf<T, std::tuple<P...>> {
    using type = Gated<T, P...>;
};

}  // namespace detail

template <class F>
    requires std::invocable<F&, const Json&>
auto Holdpoint::gate(std::string tool, F callable) {
    using T = detail::Returned<std::invoke_result_t<F&, const Json&>>;
    return Gated<T, Json>(
        {*this, std::move(tool), [](const Json& arguments) { return arguments; },
         [callable = std::move(callable)](const Json& released, bool& has_begun) mutable {
             has_begun = true;
             return detail::call_returning<T>(callable, released);
         }});
}

template <class F>
auto Holdpoint::gate(std::string tool, std::vector<std::string> names, F callable) {
    using Parameters = detail::ParametersOf<F>;
    using T = detail::Returned<detail::AppliedResult<F, Parameters>>;
    return typename detail::GatedOf<T, Parameters>::type(
        {*this, std::move(tool),
         [names](const auto&... given) { return detail::named<Parameters>(names, given...); },
         [names, callable = std::move(callable)](const Json& released, bool& has_begun) mutable {
             return detail::apply_named<T, Parameters>(callable, names, released, has_begun);
         }});
}

}  // namespace holdpoint
