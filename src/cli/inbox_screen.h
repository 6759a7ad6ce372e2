#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/change.h"
#include "cli/detail.h"
#include "cli/event_stream.h"
#include "cli/filters.h"
#include "cli/inbox_model.h"
#include "cli/screen.h"

namespace holdpoint::cli {

/// The full-screen inbox: what waits, what it is, and one key per decision. One loop moves the
/// keyboard, the calls and the event stream along; nothing blocks but the person's own editor.
class InboxScreen {
  public:
    InboxScreen(Session& session, Query filters, const json::value& me);
    ~InboxScreen();
    ExitCode run();

  private:
    enum class Mode { list, detail, help, change };

    /// A question at the bottom of the screen. It owns the keyboard until it is answered.
    struct Prompt {
        std::string label = {};
        std::u32string typed = {};
        bool is_yes_no = false;
        std::int64_t opened_ms = 0;
        std::string request_id = {};  ///< goes away with this request
        std::function<void(const std::string&)> on_answer = {};
    };
    struct Message {
        Style style = Style::plain;
        std::string text;
    };

    // What happens.
    void load(const std::string& cursor);
    void take_event(const ServerEvent& event);
    void skipped(const Error& error);
    void take_request(const Request& request, const std::string& by_whom);
    void selection_changed();
    void load_timeline();

    // What the person does.
    void press(const Key& key);
    void press_in_list(char32_t key);
    void press_in_change(const Key& key);
    void press_in_prompt(const Key& key);
    void scroll(long lines);
    void move(long rows);
    bool may_decide(char32_t key, bool is_release);
    void ask(std::string label, const Request& request, bool may_be_empty,
             std::function<void(const std::string&)> on_answer);
    void ask_yes_no(std::string label, const Request& request, std::function<void()> on_yes);
    void open_prompt(Prompt prompt);
    /// After the request's code was typed, where it has one; else by risk: at once, after y, or
    /// after the tool's name was typed. `body` is sent with the code in it.
    void release_when_sure(const Request& request, json::object body);
    void ask_for_word(const std::string& label, const std::string& word, const Request& request,
                      std::function<void()> on_right);
    void approve(const Request& request);
    void edit(const Request& request);
    void answer(const Request& request);
    void send(const Request& request, json::object body);

    // What is seen.
    void draw();
    void draw_list(int first_row, int height);
    void draw_detail(int first_row, int height);
    void draw_help();
    void draw_change();
    void draw_bottom();
    int list_height() const;
    int detail_height() const;
    std::string connection_text() const;

    Session& session_;
    Query filters_;
    std::string name_;
    bool may_decide_at_all_ = false;
    std::unique_ptr<Screen> screen_;
    std::unique_ptr<EventStream> stream_;
    InboxModel model_;
    Arming arming_;
    Mode mode_ = Mode::list;
    std::optional<Prompt> prompt_;
    Message message_;
    std::vector<Request> loading_;
    bool is_loading_ = false;
    bool is_loaded_ = false;
    bool is_quitting_ = false;
    std::string busy_id_;  ///< a decision on this one is on its way
    std::optional<Failure> ended_by_;

    std::string timeline_id_;
    json::value timeline_;
    Detail detail_;
    long detail_top_ = 0;
    std::size_t seen_lines_ = 0;  ///< of the selected request, counted from the top
    std::size_t list_top_ = 0;
    std::optional<std::pair<Request, Change>> change_;
    std::int64_t reconnect_at_ms_ = 0;
};

}  // namespace holdpoint::cli
