#include "agent/demo/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>

#include "agent/demo/scenes.h"
#include "agent/pause.h"

namespace holdpoint::agent {
namespace {

/// Conversations that may wait for people at the same time.
constexpr std::size_t open_max = 3;

std::shared_ptr<Model> model_of(const std::string& script) {
    const Result<Json> json = Json::parse(script);
    Result<std::shared_ptr<Model>> model =
        json ? make_scripted_model(*json) : Result<std::shared_ptr<Model>>(json.error());
    return model ? *model : nullptr;
}

Agent agent_of(const Scene& scene, const std::shared_ptr<Site>& site, const Holdpoint& holdpoint) {
    Agent editor{.name = "editor", .tools = editor_tools(site), .model = model_of(scene.script)};
    editor.tools.add(human_input_tool(holdpoint));
    if (scene.worker.empty()) return editor;
    Agent worker{.name = "refund", .tools = refund_tools(site), .model = model_of(scene.worker)};
    return make_supervisor(std::move(editor), {{std::move(worker), "Refunds an order."}});
}

/// One conversation, from what the person wants to the last word.
class Conversation {
  public:
    Conversation(Scene scene, Holdpoint holdpoint, std::shared_ptr<Site> site,
                 std::function<void(const std::string&)> say, std::stop_token stop)
        : scene_(std::move(scene)),
          holdpoint_(std::move(holdpoint)),
          site_(std::move(site)),
          say_(std::move(say)),
          stop_(std::move(stop)) {}

    void play() {
        tell("person", scene_.person);
        if (const Result<void> ready = site_->execute(scene_.before); !ready)
            return tell("editor", ready.error().message);
        if (scene_.script.empty())
            follow_plan();
        else
            talk();
    }

  private:
    void tell(std::string_view who, const std::string& what) {
        std::istringstream lines(what);
        for (std::string line; std::getline(lines, line);)
            if (!line.empty()) say_(fmt::format("[{}] {}: {}", scene_.name, who, line));
    }
    Asking asking() const { return {.context = {.user_prompt = scene_.person}}; }

    void talk() {
        HumanInTheLoopOptions options;
        options.stop = stop_;
        // The last word is proposed too: policy lets most of them pass, and holds letters.
        options.must_approve_final = true;
        options.on_step = [this, said = std::string()](const Step& step) mutable {
            if (!step.reasoning.empty() && step.reasoning != said) tell(step.agent, step.reasoning);
            said = step.reasoning;
            tell(step.agent,
                 fmt::format("{} {} -> {}", step.tool, step.arguments.dump(), step.message));
        };
        HumanInTheLoop loop(holdpoint_, options);
        const Agent agent = agent_of(scene_, site_, holdpoint_);
        const RunResult result = loop.execute(agent, scene_.person);
        tell("editor", result.output);
        if (result.awaiting_confirmation.empty()) return;
        const std::optional<bool> is_sure = confirmed(result);
        if (!is_sure) return;
        const std::string word = *is_sure ? "yes" : "no";
        tell("person", word);
        tell("editor", loop.execute(agent, word).output);
    }

    /// A page is deleted only after a yes in the conversation; the person says it in the inbox.
    std::optional<bool> confirmed(const RunResult& result) {
        const Run<bool> said = holdpoint_.confirm({.message = result.awaiting_confirmation[0].text,
                                                   .details = result.output,
                                                   .confirm_label = "Delete it",
                                                   .cancel_label = "Keep it",
                                                   .asking = asking()},
                                                  {.stop = stop_});
        if (said) return *said;
        tell("editor", said.error().message);
        return std::nullopt;
    }

    /// The plan of a clean-up, then its steps, each a call of its own.
    void follow_plan() {
        const auto removal = [](std::string page, const std::string& title, bool is_optional) {
            return PlanStep{.action = std::move(page),
                            .tool = "cms_removePage",
                            .description = "Remove the page \"" + title + "\"",
                            .is_optional = is_optional};
        };
        const Run<Plan> plan =
            holdpoint_.propose_plan({.title = "Clean up the site",
                                     .steps = {removal("test", "Test page", false),
                                               removal("landing-old", "Old landing", true)},
                                     .asking = asking()},
                                    {.stop = stop_});
        if (!plan) return tell("editor", plan.error().message);
        for (const PlanStep& step : plan->steps) {
            const Run<Json> ran = holdpoint_.run(
                {.tool = "cms_removePage",
                 .arguments = Json::object({{"page", step.action}}),
                 .description = step.description,
                 .asking = asking()},
                [this](const Json& arguments) {
                    return site_->query("DELETE FROM pages WHERE page = ?", {arguments["page"]});
                },
                {.stop = stop_});
            tell("editor",
                 fmt::format("{} -> {}", step.action, ran ? ran->dump() : ran.error().message));
            if (!ran && ran.error().why == Why::aborted) return;
        }
        const Run<std::string> last =
            holdpoint_.respond("I am through with the clean-up.", asking(), {.stop = stop_});
        tell("editor", last ? *last : last.error().message);
    }

    Scene scene_;
    Holdpoint holdpoint_;
    std::shared_ptr<Site> site_;
    std::function<void(const std::string&)> say_;
    std::stop_token stop_;
};

/// Where conversations run, each on a thread of its own.
class Stage {
  public:
    explicit Stage(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

    /// Waits until another conversation may begin; false when stopped.
    bool wait_for_room(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        is_changed_.wait(lock, stop, [this] { return open_ < open_max; });
        return !stop.stop_requested();
    }
    bool is_playing(std::size_t scene) {
        const std::lock_guard lock(mutex_);
        return std::ranges::any_of(places_, [&](const Place& p) { return p.scene == scene; });
    }
    /// Only after wait_for_room(), from one thread.
    void begin(std::size_t at, const Scene& scene, const Holdpoint& holdpoint,
               const std::shared_ptr<Site>& site, const std::stop_token& stop) {
        const std::lock_guard lock(mutex_);
        Place& place = *std::ranges::find(places_, nobody, &Place::scene);
        place.scene = at;
        ++open_;
        const auto say = [this](const std::string& line) {
            const std::lock_guard one_at_a_time(say_mutex_);
            say_(line);
        };
        // Whoever played here before has left the lock behind it already.
        place.thread = std::jthread([this, &place, scene, holdpoint, site, say, stop] {
            Conversation(scene, holdpoint, site, say, stop).play();
            const std::lock_guard done(mutex_);
            place.scene = nobody;
            --open_;
            is_changed_.notify_all();
        });
    }

  private:
    static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
    struct Place {
        std::size_t scene = nobody;
        std::jthread thread = {};
    };

    std::mutex mutex_;
    std::mutex say_mutex_;
    std::condition_variable_any is_changed_;
    std::function<void(const std::string&)> say_;
    std::size_t open_ = 0;                // guarded by mutex_
    std::array<Place, open_max> places_;  // guarded by mutex_; last, so that all else outlives it
};

}  // namespace

Result<void> play_demo(const std::function<Result<Holdpoint>(Labels)>& connect,
                       const std::shared_ptr<Site>& site, const DemoOptions& options,
                       const std::stop_token& stop) {
    Stage stage(options.say);
    int begun = 0;
    for (std::size_t next = 0; options.conversations_max == 0 || begun < options.conversations_max;
         ++next) {
        if (!stage.wait_for_room(stop)) return {};
        const std::size_t at = next % scene_count();
        // What waits for an answer already is not asked a second time.
        if (stage.is_playing(at)) continue;
        const Scene chosen = scene(at, next / scene_count());
        Result<Holdpoint> holdpoint = connect(
            {.thread = chosen.name, .task = fmt::format("demo {}", next + 1), .user = "visitor"});
        if (!holdpoint) return holdpoint.error();
        ++begun;
        stage.begin(at, chosen, *holdpoint, site, stop);
        pause(options.pause, stop);
    }
    return {};
}

}  // namespace holdpoint::agent
