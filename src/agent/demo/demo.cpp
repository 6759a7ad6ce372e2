#include "agent/demo/demo.h"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <mutex>

namespace holdpoint::agent {
namespace {

/// One conversation: who asks what, and what the model does about it. Turns with `when` are the
/// reactions to what people decide.
struct Scene {
    std::string_view name;
    std::string_view person;  ///< what the person wants
    std::string_view script;
    std::string_view worker = {};  ///< the script of a refund worker
};

constexpr std::array scenes{
    Scene{"publish", "Please publish the spring sale post.", R"([
      {"call": [{"tool": "cms_listPosts", "arguments": {}}]},
      {"call": [{"tool": "cms_publishPost", "arguments": {"slug": "spring-sale"}}]},
      {"when": "changed\":", "say": "The spring sale is on the site now."},
      {"when": "rejected", "say": "Then it stays a draft."},
      {"when": "another way", "say": "I leave it as a draft and will do as you say."},
      {"when": "imed out", "say": "Nobody answered, so it stays a draft."},
      {"say": "It was not published."}])"},
    Scene{"refund", "Refund order 1234, the customer sent everything back.", R"([
      {"call": [{"tool": "delegate_to_refund", "arguments": {"task": "Refund order 1234 in full"}}]},
      {"say": "The refund worker has finished with order 1234."}])",
          R"([
      {"call": [{"tool": "find_order", "arguments": {"orderId": "1234"}}]},
      {"call": [{"tool": "process_refund", "arguments": {"orderId": "1234", "amount": 50000}}]},
      {"when": "changed\":", "call": [{"tool": "send_notification",
          "arguments": {"recipient": "Ms Winter", "text": "Your money is on its way."}}]},
      {"when": "rejected", "say": "The refund was rejected; the customer was not told anything."},
      {"when": "imed out", "say": "Nobody approved the refund in time."},
      {"when": "another way", "say": "I was asked to settle it another way."},
      {"say": "Order 1234 is settled."}])"},
    Scene{"archive", "Our old posts should not be found any more.", R"([
      {"call": [{"tool": "cms_archivePost", "arguments": {"slug": "old-news"}},
                {"tool": "cms_archivePost", "arguments": {"slug": "opening-hours"}},
                {"tool": "cms_deleteImage", "arguments": {"name": "banner.png"}}]},
      {"when": "rejected", "say": "I did what you allowed and left the rest."},
      {"say": "The old posts are put away."}])"},
    Scene{"title", "Write a post about the summer party.", R"([
      {"call": [{"tool": "request_human_input", "arguments": {"question": "What should the post be called?"}}]},
      {"when": "answer", "call": [{"tool": "cms_createPost",
          "arguments": {"slug": "summer-party", "title": "Summer party"}}]},
      {"when": "changed\":", "call": [{"tool": "cms_publishPost", "arguments": {"slug": "summer-party"}}]},
      {"when": "changed\":", "say": "The summer party is announced."},
      {"say": "I keep the summer party as a draft."}])"},
    Scene{"page", "Delete the about page.", R"([
      {"call": [{"tool": "cms_deletePage", "arguments": {"page": "about"}}]},
      {"say": "This deletes the page \"About us\" with its 3 sections for good. Shall I go on?"},
      {"call": [{"tool": "cms_deletePage",
                 "arguments": {"page": "about", "confirmed": true, "confirmation_token": "{{token}}"}}]},
      {"when": "changed\":", "say": "The about page is gone."},
      {"say": "I left the about page where it is."}])"},
};

std::shared_ptr<Model> model_of(std::string_view script) {
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

std::string line_of(const Step& step) {
    return fmt::format("  {}: {} {} -> {}", step.agent, step.tool, step.arguments.dump(),
                       step.message);
}

/// A page is deleted only after a yes in the conversation; here the person says it in the inbox.
std::string asked_in_inbox(Holdpoint& holdpoint, const std::string& question,
                           const std::stop_token& stop) {
    const Run<Json> told =
        holdpoint.ask({.question = question, .type = InputType::choice, .options = {"yes", "no"}},
                      {.stop = stop});
    return told ? told->text_or("") : "";
}

void play(const Scene& scene, Holdpoint& holdpoint, const std::shared_ptr<Site>& site,
          const DemoOptions& options, const std::stop_token& stop) {
    HumanInTheLoopOptions chosen;
    chosen.stop = stop;
    chosen.on_step = [&](const Step& step) { options.say(line_of(step)); };
    HumanInTheLoop loop(holdpoint, chosen);
    const Agent agent = agent_of(scene, site, holdpoint);
    options.say(fmt::format("person: {}", scene.person));
    RunResult result = loop.execute(agent, std::string(scene.person));
    options.say(fmt::format("editor: {}", result.output));
    if (scene.name != "page" || result.is_aborted || stop.stop_requested()) return;
    const std::string answer = asked_in_inbox(holdpoint, result.output, stop);
    if (answer.empty()) return;
    options.say(fmt::format("person: {}", answer));
    result = loop.execute(agent, answer);
    options.say(fmt::format("editor: {}", result.output));
}

/// The plan of a clean-up, then its steps, each a call of its own.
void play_plan(Holdpoint& holdpoint, const std::shared_ptr<Site>& site, const DemoOptions& options,
               const std::stop_token& stop) {
    options.say("person: Clean up the site.");
    const Run<Plan> plan = holdpoint.propose_plan(
        {.title = "Clean up the site",
         .steps = {{.action = "test", .description = "Delete the page \"Test page\""},
                   {.action = "landing-old",
                    .description = "Delete the page \"Old landing\"",
                    .is_optional = true}}},
        {.stop = stop});
    if (!plan) return options.say(fmt::format("editor: {}", plan.error().message));
    for (const PlanStep& step : plan->steps) {
        const Run<Json> ran = holdpoint.run(
            {.tool = "cms_removePage", .arguments = Json::object({{"page", step.action}})},
            [&](const Json& arguments) {
                return site->query("DELETE FROM pages WHERE page = ?", {arguments["page"]});
            },
            {.stop = stop});
        options.say(fmt::format("  editor: {} -> {}", step.action,
                                ran ? ran->dump() : ran.error().message));
        if (!ran && ran.error().why == Why::aborted) return;
    }
    options.say("editor: I am through with the clean-up.");
}

void wait(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any is_stopped;
    std::unique_lock lock(mutex);
    is_stopped.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

Result<void> play_demo(const std::function<Result<Holdpoint>(Labels)>& connect,
                       const std::shared_ptr<Site>& site, const DemoOptions& options,
                       const std::stop_token& stop) {
    const int count = static_cast<int>(scenes.size()) + 1;
    for (int played = 0; options.scenes_max == 0 || played < options.scenes_max; ++played) {
        if (stop.stop_requested()) return {};
        const int at = played % count;
        if (at == 0)
            if (Result<void> ok = site->reset(); !ok) return ok;
        const bool is_plan = at == count - 1;
        Labels labels;
        labels.thread =
            is_plan ? "clean-up" : std::string(scenes[static_cast<std::size_t>(at)].name);
        labels.task = fmt::format("demo {}", played + 1);
        labels.user = "visitor";
        Result<Holdpoint> holdpoint = connect(labels);
        if (!holdpoint) return holdpoint.error();
        if (is_plan)
            play_plan(*holdpoint, site, options, stop);
        else
            play(scenes[static_cast<std::size_t>(at)], *holdpoint, site, options, stop);
        wait(options.pause, stop);
    }
    return {};
}

}  // namespace holdpoint::agent
