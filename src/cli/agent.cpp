#include <fmt/format.h>
#include <holdpoint/agent.h>
#include <holdpoint/git.h>
#include <holdpoint/tools.h>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "agent/demo/demo.h"
#include "base/text.h"
#include "cli/app.h"
#include "cli/json_text.h"

namespace holdpoint::cli {
namespace {

struct AgentOptions {
    std::string model_url, model, model_key_variable = "OPENAI_API_KEY";
    std::string script;
    std::vector<std::string> tools;
    std::string folder = ".";
    std::string task, session, user;
    std::string feedback, repository;
    std::string system = "You are a careful assistant. Use the tools; say plainly what you did.";
    int turns_max = 20;
    bool is_demo = false;
    std::string site = ":memory:";
    double every_s = 15;
    double patience_s = 30;
    int scenes = 0;
    bool is_not_streaming = false;
};

std::chrono::milliseconds milliseconds(double seconds) {
    constexpr double seconds_max = 86'400;
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(std::min(seconds, seconds_max) * 1000));
}

/// Ends waits when the person presses Ctrl-C or the process is asked to end.
class Signals {
  public:
    Signals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigaddset(&set_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
        thread_ = std::jthread([this](const std::stop_token& ended) {
            const timespec moment{0, 100'000'000};
            while (!ended.stop_requested())
                if (sigtimedwait(&set_, nullptr, &moment) > 0) source_.request_stop();
        });
    }
    std::stop_token token() const { return source_.get_token(); }

  private:
    sigset_t set_{};
    std::stop_source source_;
    std::jthread thread_;
};

/// One line of the input, or nothing at its end and once `stop` came.
std::optional<std::string> read_line(std::string& buffer, const std::stop_token& stop) {
    for (;;) {
        if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
            std::string line = buffer.substr(0, end);
            buffer.erase(0, end + 1);
            return line;
        }
        if (stop.stop_requested()) return std::nullopt;
        pollfd waiting{STDIN_FILENO, POLLIN, 0};
        constexpr int look_ms = 100;
        if (::poll(&waiting, 1, look_ms) <= 0) continue;
        char bytes[4096];
        const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (count <= 0) return std::nullopt;
        buffer.append(bytes, static_cast<std::size_t>(count));
    }
}

/// What the library has to report goes where messages go: the output is for data.
void log_to_stderr() {
    auto logger = std::make_shared<spdlog::logger>(
        "holdpoint", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%l: %v");
    spdlog::set_default_logger(std::move(logger));
}

RemoteOptions remote_options(const Session& session, const AgentOptions& given, Labels labels) {
    RemoteOptions options;
    options.url = session.settings.url.value;
    options.key = session.settings.token.value;
    options.ca_file = session.settings.ca_file.value;
    options.may_use_http = session.settings.may_use_http;
    options.unreachable_after = milliseconds(given.patience_s);
    options.labels = std::move(labels);
    return options;
}

Result<Toolbox> toolbox_of(const AgentOptions& options, const Holdpoint& holdpoint) {
    Toolbox tools;
    for (const std::string& name : options.tools) {
        if (name == "bash") {
            tools.add(bash_tool(options.folder));
        } else if (name == "file") {
            for (Tool& tool : file_tools(options.folder)) tools.add(std::move(tool));
        } else if (name == "http") {
            for (Tool& tool : http_tools()) tools.add(std::move(tool));
        } else {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("`{}` is none of bash, file, http", name), "--tools"};
        }
    }
    tools.add(human_input_tool(holdpoint));
    return tools;
}

Result<std::shared_ptr<Model>> model_of(const AgentOptions& options) {
    if (!options.script.empty()) return load_scripted_model(options.script);
    if (options.model_url.empty())
        return Error{ErrorCode::invalid_argument, "give --model-url, --script or --demo"};
    ChatOptions chat;
    chat.url = options.model_url;
    chat.model = options.model;
    chat.is_streaming = !options.is_not_streaming;
    if (const char* key = std::getenv(options.model_key_variable.c_str())) chat.key = key;
    return make_chat_model(chat);
}

Json json_of(const RunResult& result) {
    std::vector<Json> steps;
    for (const Step& step : result.steps)
        steps.push_back(Json::object({{"agent", step.agent},
                                      {"tool", step.tool},
                                      {"arguments", step.arguments},
                                      {"ran", step.has_run},
                                      {"replayed", step.is_replayed},
                                      {"output", step.output},
                                      {"why", step.why ? Json(to_string(*step.why)) : Json()},
                                      {"request", step.request_id}}));
    std::vector<std::string> awaiting;
    for (const AwaitingConfirmation& one : result.awaiting_confirmation)
        awaiting.push_back(one.text);
    return Json::object({{"success", result.success},
                         {"awaiting_confirmation", Json::texts(awaiting)},
                         {"output", result.output},
                         {"aborted", result.is_aborted},
                         {"steps", Json::array(steps)},
                         {"tokens", result.usage.total()},
                         {"execution_ms", result.execution_time.count()},
                         {"human_ms", result.human_time.count()}});
}

void show_event(const Session& session, const RunResult& result) {
    if (session.out.is_json()) return session.out.data(json_of(result).dump());
    session.out.data(visible(result.output, Newlines::keep));
}

/// One task, or a conversation: each line that a person writes goes on with it.
ExitCode run_agent(Session& session, const AgentOptions& options) {
    const Signals signals;
    Labels labels{.session = options.session, .user = options.user};
    Result<Holdpoint> holdpoint = Holdpoint::connect(remote_options(session, options, labels));
    if (!holdpoint) return session.out.fail(holdpoint.error());
    Result<Toolbox> tools = toolbox_of(options, *holdpoint);
    if (!tools) return session.out.fail(tools.error());
    Result<std::shared_ptr<Model>> model = model_of(options);
    if (!model) return session.out.fail(model.error());
    const Agent agent{.name = "agent",
                      .system_prompt = options.system,
                      .tools = std::move(*tools),
                      .model = *model};
    HumanInTheLoopOptions loop_options;
    Result<std::shared_ptr<FeedbackMemory>> feedback =
        FeedbackMemory::open({.file = options.feedback,
                              .session = holdpoint->session(),
                              .working_directory = options.folder});
    if (!feedback) return session.out.fail(feedback.error());
    loop_options.feedback = *feedback;
    if (!options.repository.empty())
        holdpoint->add(std::make_shared<GitHistory>(
            GitOptions{.repository = options.repository, .working_directory = options.folder}));
    loop_options.inner = make_react({.iterations_max = options.turns_max});
    loop_options.stop = signals.token();
    loop_options.must_keep_requests = !options.session.empty();
    loop_options.on_step = [&](const Step& step) {
        session.out.say(fmt::format("{} {} {}", step.has_run ? "ran" : "not run",
                                    visible(step.tool), visible(step.arguments.dump())));
    };
    HumanInTheLoop loop(*holdpoint, loop_options);
    RunResult result;
    if (!options.task.empty()) {
        result = loop.execute(agent, options.task);
        show_event(session, result);
    } else {
        std::string buffer;
        while (const std::optional<std::string> line = read_line(buffer, signals.token())) {
            result = loop.execute(agent, *line);
            show_event(session, result);
            if (result.is_aborted) break;
        }
    }
    if (signals.token().stop_requested()) return ExitCode::interrupted;
    if (result.is_aborted) return ExitCode::not_released;
    return result.success ? ExitCode::fine : ExitCode::failed;
}

/// What goes to the server, and into the journal's name, as it was given or not at all.
Result<void> check_texts(const AgentOptions& options) {
    for (const auto& [text, flag] :
         {std::pair(&options.task, "task"), std::pair(&options.session, "--session"),
          std::pair(&options.user, "--user"), std::pair(&options.system, "--system")})
        if (!is_utf8(*text)) return Error{ErrorCode::invalid_argument, "is not UTF-8", flag};
    return {};
}

/// Asked before each conversation: with a key that may not propose, or no longer, every one of them
/// would fail and the next begin, without end. A server that is away may come back.
Result<void> check_key(Session& session) {
    const Answer<Reply> me = session.client.call({.path = "/v1/me"});
    if (!me) {
        const Error& error = me.error().error;
        const bool is_final = error.code == ErrorCode::unauthenticated ||
                              error.code == ErrorCode::permission_denied ||
                              error.code == ErrorCode::invalid_argument;
        return is_final ? Result<void>(error) : Result<void>();
    }
    const std::string role = text_of(me->body, "role");
    if (role == "agent") return {};
    return Error{ErrorCode::permission_denied,
                 fmt::format("the key belongs to `{}`, role {}; only an agent's can propose",
                             visible(text_of(me->body, "name")), visible(role))};
}

ExitCode run_demo(Session& session, const AgentOptions& options) {
    const Signals signals;
    const Result<std::shared_ptr<agent::Site>> site = agent::Site::open(options.site);
    if (!site) return session.out.fail(site.error());
    agent::DemoOptions demo;
    demo.pause = milliseconds(options.every_s);
    demo.conversations_max = options.scenes;
    demo.say = [&](const std::string& line) { session.out.data(visible(line)); };
    const Result<void> played = agent::play_demo(
        [&](Labels labels) -> Result<Holdpoint> {
            if (Result<void> ok = check_key(session); !ok) return ok.error();
            return Holdpoint::connect(remote_options(session, options, std::move(labels)));
        },
        *site, demo, signals.token());
    return played ? ExitCode::fine : session.out.fail(played.error());
}

}  // namespace

void add_agent(Command app, Commands& commands) {
    Command command =
        app.add_subcommand("agent", "Run an agent whose every tool call goes through the server");
    const auto options = std::make_shared<AgentOptions>();
    command.add_option("task", options->task,
                       "What to do; without it each line of the input is something said");
    command.add_option("--model-url", options->model_url,
                       "An OpenAI-compatible endpoint, as http://127.0.0.1:11434/v1");
    command.add_option("--model", options->model, "The name of the model");
    command
        .add_option("--model-key-env", options->model_key_variable,
                    "The environment variable with the model's key")
        .show_default();
    command.add_flag("--no-stream", options->is_not_streaming, "Ask the model for whole answers");
    command.add_option("--script", options->script, "Play this conversation instead of a model");
    command.add_option("--tools", options->tools, "bash, file, http; several with commas")
        .separated_by(',');
    command.add_option("--folder", options->folder, "Where bash and file tools work")
        .show_default();
    command.add_option("--system", options->system, "The system prompt");
    command.add_option("--session", options->session,
                       "The run's name; started again with it, the agent goes on where it was");
    command.add_option("--user", options->user, "The person it works for");
    command.add_option("--turns", options->turns_max, "At most so many turns of the model")
        .show_default()
        .between(1, 1000);
    command.add_option("--feedback", options->feedback,
                       "File that keeps what people said, for later runs of the session");
    command.add_option("--git", options->repository,
                       "Repository whose history tells what was decided and done");
    command
        .add_option("--patience", options->patience_s,
                    "Seconds until a server that does not answer is given up")
        .show_default()
        .not_negative();
    command.add_flag("--demo", options->is_demo,
                     "Have conversations about a small site, without a model");
    command.add_option("--site", options->site, "Demo: the site's SQLite file").show_default();
    command
        .add_option("--every", options->every_s,
                    "Demo: seconds between the beginnings of two conversations")
        .show_default()
        .not_negative();
    command.add_option("--scenes", options->scenes, "Demo: end after so many; 0 goes on")
        .show_default()
        .between(0, 1'000'000);
    on_session(command, commands, [options](Session& session) {
        log_to_stderr();
        if (Result<void> ok = check_texts(*options); !ok) return session.out.fail(ok.error());
        return options->is_demo ? run_demo(session, *options) : run_agent(session, *options);
    });
}

}  // namespace holdpoint::cli
