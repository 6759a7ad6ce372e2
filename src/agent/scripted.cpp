#include <fmt/format.h>
#include <holdpoint/model.h>

#include <fstream>
#include <sstream>

namespace holdpoint {
namespace {

std::string filled(std::string text, std::string_view mark, const std::string& words) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        text.replace(at, mark.size(), words);
        at += words.size();
    }
    return text;
}

/// What a person answered, as it stands within a JSON text.
std::string answer_in(const std::string& heard) {
    const Result<Json> told = Json::parse(heard);
    if (!told || !(*told)["answer"].is_text()) return "";
    const std::string quoted = (*told)["answer"].dump();
    return quoted.substr(1, quoted.size() - 2);
}

class ScriptedModel : public Model {
  public:
    explicit ScriptedModel(std::vector<Json> turns) : turns_(std::move(turns)) {}

    Result<Turn> complete(const Prompt& prompt) override {
        note_token(prompt);
        const std::string heard = heard_since(prompt);
        while (next_ < turns_.size()) {
            const Json turn = turns_[next_++];
            const std::optional<std::string> when = turn["when"].text();
            if (when && heard.find(*when) == std::string::npos) continue;
            return play(turn, prompt, heard);
        }
        return Turn{{Role::assistant, "", {}, ""}, {}};
    }

  private:
    /// What came after the model's last turn.
    static std::string heard_since(const Prompt& prompt) {
        std::string heard;
        for (auto it = prompt.messages.rbegin();
             it != prompt.messages.rend() && it->role != Role::assistant; ++it)
            if (it->role != Role::system) heard.insert(0, it->text + (heard.empty() ? "" : "\n"));
        return heard;
    }
    void note_token(const Prompt& prompt) {
        for (const Message& message : prompt.messages) {
            if (message.role != Role::system) continue;
            const std::size_t at = message.text.rfind("cnf_");
            constexpr std::size_t token_bytes = 36;
            if (at != std::string::npos) token_ = message.text.substr(at, token_bytes);
        }
    }
    Turn play(const Json& turn, const Prompt& prompt, const std::string& heard) {
        Turn out;
        out.message.role = Role::assistant;
        out.message.text = filled(turn["say"].text_or(""), "{{heard}}", heard);
        for (const Json& call : turn["call"].items()) {
            const std::string arguments =
                call.has("raw") ? call["raw"].text_or("") : call["arguments"].dump();
            out.message.calls.push_back(
                {fmt::format("call_{}", ++calls_), call["tool"].text_or(""),
                 filled(filled(arguments, "{{token}}", token_), "{{answer}}", answer_in(heard))});
        }
        // As if one token were four letters: budgets can be played through without a real model.
        for (const Message& message : prompt.messages)
            out.usage.prompt_tokens += static_cast<std::int64_t>(message.text.size() / 4);
        out.usage.completion_tokens = static_cast<std::int64_t>(turn.dump().size() / 4);
        if (prompt.on_text && !out.message.text.empty()) prompt.on_text(out.message.text);
        return out;
    }

    std::vector<Json> turns_;
    std::size_t next_ = 0;
    int calls_ = 0;
    std::string token_;
};

}  // namespace

Result<std::shared_ptr<Model>> make_scripted_model(const Json& script) {
    if (!script.is_array())
        return Error{ErrorCode::invalid_argument, "a script is an array of turns"};
    std::size_t at = 0;
    for (const Json& turn : script.items()) {
        const auto wrong = [&](std::string_view why) {
            return Error{ErrorCode::invalid_argument, fmt::format("turn {}: {}", at, why)};
        };
        if (!turn.has("say") && !turn.has("call")) return wrong("has neither `say` nor `call`");
        for (const std::string& name : turn.names())
            if (name != "say" && name != "call" && name != "when" && name != "note")
                return wrong(fmt::format("`{}` is not known", name));
        for (const Json& call : turn["call"].items())
            if (!call["tool"].is_text()) return wrong("a call has no `tool`");
        ++at;
    }
    return std::make_shared<ScriptedModel>(script.items());
}

Result<std::shared_ptr<Model>> load_scripted_model(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return Error{ErrorCode::not_found, fmt::format("the script `{}` cannot be read", path)};
    std::ostringstream text;
    text << file.rdbuf();
    const Result<Json> script = Json::parse(text.str());
    if (!script) return script.error();
    return make_scripted_model(*script);
}

}  // namespace holdpoint
