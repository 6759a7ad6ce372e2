#include "agent/chat.h"

#include <fmt/format.h>

#include "agent/http.h"
#include "agent/pause.h"
#include "agent/remote.h"
#include "agent/sse.h"

namespace holdpoint {
namespace agent {
namespace {

constexpr std::size_t calls_max = 64;

std::string_view to_string(Role role) {
    switch (role) {
        case Role::system:
            return "system";
        case Role::user:
            return "user";
        case Role::assistant:
            return "assistant";
        case Role::tool:
            return "tool";
    }
    return "user";
}

Json message_json(const Message& message) {
    Json json = Json::object({{"role", to_string(message.role)}, {"content", message.text}});
    if (message.role == Role::tool) json = json.with("tool_call_id", message.call_id);
    if (message.calls.empty()) return json;
    std::vector<Json> calls;
    for (const ToolCall& call : message.calls)
        calls.push_back(Json::object(
            {{"id", call.id},
             {"type", "function"},
             {"function", Json::object({{"name", call.name}, {"arguments", call.arguments}})}}));
    return json.with("tool_calls", Json::array(calls));
}

Json tool_json(const Tool& tool) {
    Json schema = tool.schema;
    if (tool.preview)
        schema = schema.with("properties",
                             schema["properties"]
                                 .with("confirmed", Json::object({{"type", "boolean"}}))
                                 .with("confirmation_token", Json::object({{"type", "string"}})));
    return Json::object({{"type", "function"},
                         {"function", Json::object({{"name", tool.name},
                                                    {"description", tool.description},
                                                    {"parameters", schema}})}});
}

void read_usage(const Json& usage, Usage& out) {
    out.prompt_tokens = usage["prompt_tokens"].integer().value_or(out.prompt_tokens);
    out.completion_tokens = usage["completion_tokens"].integer().value_or(out.completion_tokens);
}

/// Some servers send arguments as an object, against the protocol; their text is the same thing.
std::string arguments_text(const Json& arguments) {
    if (arguments.is_object()) return arguments.dump();
    return arguments.text_or("");
}

Error answer_lacks(std::string_view what) {
    return {ErrorCode::internal, fmt::format("the model's answer has no `{}`", what)};
}

}  // namespace

Json chat_body(const ChatOptions& options, const Model::Prompt& prompt) {
    std::vector<Json> messages;
    for (const Message& message : prompt.messages) messages.push_back(message_json(message));
    Json body = Json::object({{"model", options.model},
                              {"messages", Json::array(messages)},
                              {"temperature", options.temperature}});
    if (options.is_streaming)
        body = body.with("stream", true)
                   .with("stream_options", Json::object({{"include_usage", true}}));
    if (!prompt.tools || prompt.tools->all().empty()) return body;
    std::vector<Json> tools;
    for (const auto& [name, tool] : prompt.tools->all()) tools.push_back(tool_json(tool));
    return body.with("tools", Json::array(tools));
}

Result<Turn> read_completion(const Json& answer) {
    const Json message = answer["choices"][0]["message"];
    if (!message.is_object()) return answer_lacks("choices");
    Turn turn;
    turn.message.role = Role::assistant;
    turn.message.text = message["content"].text_or("");
    for (const Json& call : message["tool_calls"].items())
        turn.message.calls.push_back({call["id"].text_or(""), call["function"]["name"].text_or(""),
                                      arguments_text(call["function"]["arguments"])});
    read_usage(answer["usage"], turn.usage);
    return turn;
}

Result<void> StreamedTurn::take(const std::string& data,
                                const std::function<void(std::string_view)>& on_text) {
    if (data == "[DONE]") {
        is_done_ = true;
        return {};
    }
    const Result<Json> chunk = Json::parse(data);
    if (!chunk) return chunk.error();
    if ((*chunk)["error"].is_object())
        return Error{ErrorCode::unavailable,
                     (*chunk)["error"]["message"].text_or("the model failed")};
    read_usage((*chunk)["usage"], turn_.usage);
    const Json choice = (*chunk)["choices"][0];
    if (!choice.is_object()) return {};
    has_choice_ = true;
    const Json delta = choice["delta"];
    if (const std::string text = delta["content"].text_or(""); !text.empty()) {
        turn_.message.text += text;
        if (on_text) on_text(text);
    }
    for (const Json& part : delta["tool_calls"].items()) {
        std::vector<ToolCall>& calls = turn_.message.calls;
        const std::int64_t last = calls.empty() ? 0 : static_cast<std::int64_t>(calls.size()) - 1;
        const std::int64_t index = part["index"].integer().value_or(last);
        if (index < 0 || index >= static_cast<std::int64_t>(calls_max))
            return Error{ErrorCode::internal, "the model makes too many calls at once"};
        if (static_cast<std::size_t>(index) >= calls.size())
            calls.resize(static_cast<std::size_t>(index) + 1);
        ToolCall& call = calls[static_cast<std::size_t>(index)];
        call.id += part["id"].text_or("");
        call.name += part["function"]["name"].text_or("");
        call.arguments += arguments_text(part["function"]["arguments"]);
    }
    return {};
}

Result<Turn> StreamedTurn::finish() {
    // A stream that was cut off may have cut off arguments: half a call is no call.
    if (!is_done_ || !has_choice_)
        return Error{ErrorCode::unavailable, "the model's answer was cut off"};
    turn_.message.role = Role::assistant;
    return std::move(turn_);
}

}  // namespace agent

namespace {

using agent::HttpCall;
using agent::HttpReply;

bool may_try_again(const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::rate_limited;
}

class ChatModel : public Model {
  public:
    explicit ChatModel(ChatOptions options) : options_(std::move(options)) {
        while (options_.url.ends_with('/')) options_.url.pop_back();
    }

    Result<Turn> complete(const Prompt& prompt) override {
        std::chrono::milliseconds pause = options_.retry_pause;
        for (int attempt = 0;; ++attempt) {
            bool has_spoken = false;
            Result<Turn> turn = attempt_once(prompt, has_spoken);
            // What was streamed to a person already is not said a second time.
            if (turn || attempt >= options_.retries_max || has_spoken ||
                !may_try_again(turn.error()) || prompt.stop.stop_requested())
                return turn;
            const std::chrono::milliseconds asked{1000LL * turn.error().retry_after_s};
            agent::pause(std::max(pause, asked), prompt.stop);
            pause *= 2;
        }
    }

  private:
    Result<Turn> attempt_once(const Prompt& prompt, bool& has_spoken) {
        HttpCall call;
        call.method = "POST";
        call.url = options_.url + "/chat/completions";
        call.headers = {"Content-Type: application/json"};
        if (!options_.key.empty()) call.headers.push_back("Authorization: Bearer " + options_.key);
        call.body = agent::chat_body(options_, prompt).dump();
        call.timeout = options_.timeout;
        agent::StreamedTurn streamed;
        agent::EventData events;
        Result<void> taken;
        if (options_.is_streaming)
            call.on_bytes = [&](std::string_view bytes) {
                return events.feed(bytes, [&](const std::string& data) {
                    taken = streamed.take(data, [&](std::string_view text) {
                        has_spoken = true;
                        if (prompt.on_text) prompt.on_text(text);
                    });
                    return taken.has_value() && !streamed.is_done();
                });
            };
        const Result<HttpReply> reply = engine_.call(std::move(call), prompt.stop);
        if (!reply) return reply.error();
        if (reply->status < 200 || reply->status > 299)
            return agent::error_of(
                reply->status == 408 || reply->status == 500 ? 503 : reply->status, reply->body,
                reply->retry_after_s);
        if (options_.is_streaming) {
            if (!taken) return taken.error();
            return streamed.finish();
        }
        const Result<Json> answer = Json::parse(reply->body);
        if (!answer) return answer.error();
        return agent::read_completion(*answer);
    }

    ChatOptions options_;
    agent::HttpEngine engine_;
};

}  // namespace

std::shared_ptr<Model> make_chat_model(ChatOptions options) {
    return std::make_shared<ChatModel>(std::move(options));
}

}  // namespace holdpoint
