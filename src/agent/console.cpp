#include <fcntl.h>
#include <fmt/format.h>
#include <holdpoint/human.h>
#include <poll.h>
#include <pwd.h>
#include <termios.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/sha256.h"
#include "base/text.h"

namespace holdpoint {
namespace {

constexpr int poll_ms = 50;
constexpr std::size_t line_bytes_max = 256 * 1024;
constexpr std::size_t file_bytes_max = 96 * 1024;

std::string login_name() {
    if (const char* user = std::getenv("USER"); user && *user) return user;
    if (const passwd* entry = ::getpwuid(::getuid())) return entry->pw_name;
    return "operator";
}

bool wants_colour(int output) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return ::isatty(output) != 0 && !(no_color && *no_color) &&
           !(term && std::string_view(term) == "dumb");
}

std::string trimmed(std::string text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && is_blank(text.back())) text.pop_back();
    std::size_t from = 0;
    while (from < text.size() && is_blank(text[from])) ++from;
    return text.substr(from);
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : text + ",") {
        if (c != ',') {
            part += c;
            continue;
        }
        if (std::string one = trimmed(part); !one.empty()) parts.push_back(std::move(one));
        part.clear();
    }
    return parts;
}

std::optional<int> number_of(const std::string& text) {
    if (text.empty() || text.size() > 6) return std::nullopt;
    for (const char c : text)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    return std::stoi(text);
}

class Console : public HumanInterface {
  public:
    explicit Console(ConsoleOptions options) : options_(std::move(options)) {
        if (options_.person.empty()) options_.person = login_name();
        is_coloured_ = options_.is_coloured.value_or(wants_colour(options_.output));
    }

    bool is_available() override {
        return !is_over_ && (options_.may_be_piped || ::isatty(options_.input) != 0);
    }
    Result<std::optional<Decision>> request_approval(const Request& request,
                                                     std::stop_token stop) override;
    Result<std::optional<Decision>> request_input(const Request& question,
                                                  std::stop_token stop) override;
    void send_notification(const Notification& notification) override {
        say(fmt::format("{} {}\n", paint(tint(notification.level), "!"),
                        visible(notification.text)));
    }

  private:
    std::string paint(std::string_view colour, std::string_view text) const {
        if (!is_coloured_) return std::string(text);
        return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
    }
    static std::string_view tint(RiskLevel level) {
        switch (level) {
            case RiskLevel::low:
                return "32";
            case RiskLevel::medium:
                return "33";
            case RiskLevel::high:
                return "31";
            case RiskLevel::critical:
                return "1;31";
        }
        return "0";
    }
    void say(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t written = ::write(options_.output, text.data(), text.size());
            if (written <= 0) return;
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    /// What was typed before a question was shown is no answer to it.
    void forget_what_was_typed() {
        if (::isatty(options_.input) == 0) return;
        ::tcflush(options_.input, TCIFLUSH);
        buffer_.clear();
    }
    /// One line, or nothing once `stop` came or the input is over.
    std::optional<std::string> read_line(const std::stop_token& stop);
    std::optional<std::string> prompt(std::string_view text, const std::stop_token& stop) {
        say(paint("1", text));
        return read_line(stop);
    }

    void show(const Request& request) const;
    void show_subject(const Request& request) const;
    /// Fills in what the decision needs; false when there was no more input.
    bool complete(const Request& request, Decision& decision, const std::stop_token& stop);
    bool ask_words(std::string_view question, bool is_required, std::string& words,
                   const std::stop_token& stop);
    bool ask_replacement(Decision& decision, const std::stop_token& stop);
    Result<std::optional<Decision>> ended(const std::stop_token& stop) const;

    ConsoleOptions options_;
    bool is_coloured_ = false;
    bool is_over_ = false;
    std::string buffer_;
};

std::optional<std::string> Console::read_line(const std::stop_token& stop) {
    for (;;) {
        if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return trimmed(std::move(line));
        }
        if (stop.stop_requested() || is_over_ || buffer_.size() > line_bytes_max)
            return std::nullopt;
        pollfd waiting{options_.input, POLLIN, 0};
        if (::poll(&waiting, 1, poll_ms) <= 0) continue;
        char bytes[4096];
        const ssize_t count = ::read(options_.input, bytes, sizeof bytes);
        if (count <= 0) is_over_ = true;
        if (count > 0) buffer_.append(bytes, static_cast<std::size_t>(count));
    }
}

Result<std::optional<Decision>> Console::ended(const std::stop_token& stop) const {
    if (stop.stop_requested()) {
        say("\n(no longer needed)\n");
        return std::optional<Decision>{};
    }
    return Error{ErrorCode::unavailable, "the console was closed"};
}

void Console::show_subject(const Request& request) const {
    const auto line = [&](std::string_view name, std::string_view text) {
        if (!text.empty()) say(fmt::format("  {:<10} {}\n", name, visible(text)));
    };
    if (request.kind == Kind::action) {
        line("tool", request.tool());
        for (const std::string& name : request.arguments().names())
            say(fmt::format("    {} = {}\n", visible(name),
                            visible(request.arguments()[name].dump())));
        line("says", request.subject["description"].text_or(""));
        line("expects", request.subject["expected_outcome"].text_or(""));
    }
    for (const Json& step : request.subject["steps"].items())
        say(fmt::format(
            "  {}. {}{}{}\n", step["order"].integer().value_or(0),
            visible(step["action"].text_or("")),
            step["optional"].boolean().value_or(false) ? " (optional)" : "",
            step["description"].is_null() ? "" : ": " + visible(step["description"].text_or(""))));
    if (request.kind == Kind::response) line("answer", request.subject["text"].text_or(""));
    if (request.kind == Kind::confirmation) line("details", request.subject["details"].text_or(""));
}

void Console::show(const Request& request) const {
    const std::string risk = paint(tint(request.risk), core::to_string(request.risk));
    if (options_.style == PromptStyle::compact)
        return say(fmt::format("[{}] {}\n", risk, visible(request.headline)));
    say(fmt::format("\n{}\n", paint("1", visible(request.headline))));
    show_subject(request);
    std::string factors;
    for (const std::string& factor : request.risk_factors)
        factors += (factors.empty() ? ": " : ", ") + visible(factor);
    say(fmt::format("  {:<10} {}{}\n", "risk", risk, factors));
    if (request.risk >= RiskLevel::high)
        say(paint("31", "  look twice: this is not easily undone\n"));
    for (const std::string& one : request.consequences)
        say(fmt::format("  {:<10} {}\n", "then", visible(one)));
    if (!request.because.empty())
        say(fmt::format("  {:<10} {}\n", "because", visible(request.because)));
    if (const std::string prompt = request.context["user_prompt"].text_or(""); !prompt.empty())
        say(fmt::format("  {:<10} {}\n", "task", visible(prompt)));
}

bool Console::ask_words(std::string_view question, bool is_required, std::string& words,
                        const std::stop_token& stop) {
    for (;;) {
        std::optional<std::string> line = prompt(question, stop);
        if (!line) return false;
        words = std::move(*line);
        if (!words.empty() || !is_required) return true;
    }
}

bool Console::ask_replacement(Decision& decision, const std::stop_token& stop) {
    for (;;) {
        std::optional<std::string> line = prompt("as JSON, one line> ", stop);
        if (!line) return false;
        Result<Json> json = Json::parse(*line);
        if (json && json->is_object()) {
            decision.replacement = std::move(*json);
            return true;
        }
        say(json ? "that is no object\n" : json.error().message + "\n");
    }
}

bool Console::complete(const Request& request, Decision& decision, const std::stop_token& stop) {
    const bool is_approving =
        decision.kind == DecisionKind::approve || decision.kind == DecisionKind::modify;
    if (is_approving && !request.confirm.empty() &&
        !ask_words(fmt::format("type {} to confirm> ", request.confirm), true, decision.confirm,
                   stop))
        return false;
    switch (decision.kind) {
        case DecisionKind::modify:
            return ask_replacement(decision, stop);
        case DecisionKind::reject:
        case DecisionKind::abort:
            return ask_words("reason> ", request.is_reason_required, decision.reason, stop);
        case DecisionKind::defer:
            return ask_words("what should it try instead> ", true, decision.guidance, stop);
        case DecisionKind::escalate:
            return ask_words("to whom (a name, or group:NAME)> ", true, decision.to, stop);
        case DecisionKind::approve:
        case DecisionKind::answer:
            return true;
    }
    return false;
}

/// What a key or word stands for.
std::optional<DecisionKind> kind_of(const std::string& word) {
    if (word == "a" || word == "y" || word == "yes" || word == "approve")
        return DecisionKind::approve;
    if (word == "r" || word == "n" || word == "no" || word == "reject") return DecisionKind::reject;
    if (word == "m" || word == "modify") return DecisionKind::modify;
    if (word == "d" || word == "defer") return DecisionKind::defer;
    if (word == "e" || word == "escalate") return DecisionKind::escalate;
    if (word == "x" || word == "abort") return DecisionKind::abort;
    return std::nullopt;
}

Result<std::optional<Decision>> Console::request_approval(const Request& request,
                                                          std::stop_token stop) {
    Decision decision;
    decision.by = options_.person;
    for (const std::string& voter : request.voters) {
        if (voter != options_.person) continue;
        say("  waiting for other people\n");
        return std::optional<Decision>{};
    }
    forget_what_was_typed();
    show(request);
    const std::string question =
        fmt::format("{}approve {}{}[r]eject [d]efer [e]scalate abort [x]> ",
                    request.kind == Kind::plan ? "steps (1,2,..) or [a] " : "[a] ",
                    request.is_modifiable ? "[m]odify " : "", "");
    for (;;) {
        std::optional<std::string> line = prompt(question, stop);
        if (!line) return ended(stop);
        if (request.kind == Kind::plan && !line->empty() &&
            line->find_first_not_of("0123456789, ") == std::string::npos) {
            decision.kind = DecisionKind::approve;
            decision.approved_steps.emplace();
            for (const std::string& part : split(*line))
                if (const std::optional<int> order = number_of(part))
                    decision.approved_steps->push_back(*order);
            return std::optional(std::move(decision));
        }
        const std::optional<DecisionKind> kind = kind_of(*line);
        if (!kind) continue;
        decision.kind = *kind;
        if (!complete(request, decision, stop)) return ended(stop);
        return std::optional(std::move(decision));
    }
}

/// A line as the answer that the question asks for. What does not fit is refused afterwards.
Result<Json> answer_of(const Json& input, const std::string& line) {
    const std::string type = input["type"].text_or("text");
    const std::vector<Json> options = input["options"].items();
    const auto option = [&](const std::string& word) -> Json {
        const std::optional<int> number = number_of(word);
        if (number && *number >= 1 && static_cast<std::size_t>(*number) <= options.size())
            return options[static_cast<std::size_t>(*number) - 1];
        return word;
    };
    if (line.empty() && input.has("default")) return input["default"];
    if (line.empty() && !input["required"].boolean().value_or(true)) return Json();
    if (type == "number") {
        Result<Json> number = Json::parse(line);
        if (!number || !number->is_number())
            return Error{ErrorCode::invalid_argument, "that is no number"};
        return number;
    }
    if (type == "choice") return option(line);
    if (type == "multi_choice") {
        std::vector<Json> chosen;
        for (const std::string& word : split(line)) chosen.push_back(option(word));
        return Json::array(chosen);
    }
    if (type == "file") {
        std::ifstream file(line, std::ios::binary);
        std::string bytes(file_bytes_max + 1, '\0');
        file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes.resize(static_cast<std::size_t>(file.gcount()));
        if (!file.eof() || bytes.size() > file_bytes_max)
            return Error{ErrorCode::invalid_argument, "that file cannot be read, or is too large"};
        return Json::object({{"name", std::filesystem::path(line).filename().string()},
                             {"content_base64", base64(bytes)}});
    }
    return Json(line);
}

Result<std::optional<Decision>> Console::request_input(const Request& question,
                                                       std::stop_token stop) {
    const Json input = question.subject;
    forget_what_was_typed();
    say(fmt::format("\n{}\n", paint("1", visible(input["question"].text_or("")))));
    int number = 0;
    for (const Json& option : input["options"].items())
        say(fmt::format("  {}. {}\n", ++number, visible(option.text_or(""))));
    const std::string label = fmt::format(
        "{}{}> ", input["type"].text_or("text"),
        input.has("default") ? fmt::format(" [{}]", visible(input["default"].dump())) : "");
    for (;;) {
        std::optional<std::string> line = prompt(label, stop);
        if (!line) return ended(stop);
        Result<Json> answer = answer_of(input, *line);
        if (answer) {
            Decision decision;
            decision.kind = DecisionKind::answer;
            decision.by = options_.person;
            decision.answer = std::move(*answer);
            return std::optional(std::move(decision));
        }
        say(answer.error().message + "\n");
    }
}

}  // namespace

std::shared_ptr<HumanInterface> make_console(ConsoleOptions options) {
    return std::make_shared<Console>(std::move(options));
}

}  // namespace holdpoint
