#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <holdpoint/tool.h>

namespace holdpoint {

enum class Role { system, user, assistant, tool };

/// A call that a model wants to make. `arguments` is what it wrote, which may be anything.
struct ToolCall {
    std::string id;
    std::string name;
    std::string arguments;
};

struct Message {
    Role role = Role::user;
    std::string text = {};
    std::vector<ToolCall> calls = {};  ///< of the assistant
    std::string call_id = {};          ///< of a tool: which call it answers
};

struct Usage {
    std::int64_t prompt_tokens = 0;
    std::int64_t completion_tokens = 0;

    std::int64_t total() const { return prompt_tokens + completion_tokens; }
    Usage& operator+=(const Usage& other) {
        prompt_tokens += other.prompt_tokens;
        completion_tokens += other.completion_tokens;
        return *this;
    }
};

struct Turn {
    Message message;
    Usage usage;
};

/// Something that goes on with a conversation. One caller at a time.
class Model {
  public:
    virtual ~Model() = default;

    struct Prompt {
        std::vector<Message> messages;
        const Toolbox* tools = nullptr;
        std::function<void(std::string_view)> on_text = {};  ///< text as it comes, where streamed
        std::stop_token stop = {};
    };
    virtual Result<Turn> complete(const Prompt& prompt) = 0;
};

struct ChatOptions {
    std::string url = "http://127.0.0.1:11434/v1";  ///< up to and without `/chat/completions`
    std::string model = {};
    std::string key = {};  ///< may be empty for a local server
    bool is_streaming = true;
    double temperature = 0;
    std::chrono::milliseconds timeout{120'000};
    int retries_max = 3;  ///< of 408, 429, 500, 502, 503, 504 and broken connections
    std::chrono::milliseconds retry_pause{500};
};
/// Any server that speaks OpenAI's chat completions with tools (A7).
std::shared_ptr<Model> make_chat_model(ChatOptions options);

/// Plays a conversation from a script, so that everything runs without a key (A7). The script is an
/// array of turns; the next one whose `when` fits is played:
///
///     [{"call": [{"tool": "search", "arguments": {"q": "cats"}}]},
///      {"when": "rejected", "say": "Then I leave it."},
///      {"say": "Done."}]
///
/// `when` is a text that must occur in what was said since the last turn. `{{token}}` in arguments
/// stands for the last confirmation token that was said, `{{answer}}` for what a person answered,
/// and `{{heard}}` in `say` for everything said since the last turn. `raw` in place of `arguments`
/// is passed on as it is, broken or not. After the last turn it says nothing more.
Result<std::shared_ptr<Model>> make_scripted_model(const Json& script);
Result<std::shared_ptr<Model>> load_scripted_model(const std::string& path);

}  // namespace holdpoint
