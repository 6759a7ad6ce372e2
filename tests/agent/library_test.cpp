// The library as an embedder sees it, without a server.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/agent/live_server.h"

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;

double refund(const std::string&, double amount) { return amount; }

TEST(Gate, A1_what_a_person_approves_runs_once) {
    People people({approve()});
    Holdpoint holdpoint = opened(people);
    auto gated = holdpoint.gate("refund", {"order", "amount"}, refund);
    const Got<double> paid = gated("A-1", 40.0);
    ASSERT_TRUE(paid) << paid.error().message;
    EXPECT_EQ(*paid, 40);
    ASSERT_EQ(people.asked().size(), 1U);
    EXPECT_EQ(people.asked()[0].arguments().dump(), R"({"amount":40,"order":"A-1"})");
    EXPECT_EQ(people.asked()[0].session, holdpoint.session());
}

TEST(Gate, A1_what_did_its_work_and_then_gave_an_error_has_run) {
    People people({approve(), approve()});
    Holdpoint holdpoint = opened(people);
    int moved = 0;
    const auto pay = [&](const Json&) -> Result<int> {
        moved += 40;
        return Error{ErrorCode::unavailable, "the receipt was not printed"};
    };
    const Got<int> paid = holdpoint.gate("refund", pay)(Json::object());
    EXPECT_EQ(why(paid), Why::failed);
    EXPECT_NE(paid.error().message.find("receipt"), std::string::npos);
    const auto named = [&](int amount) -> Result<int> { return pay(Json(amount)); };
    EXPECT_EQ(why(holdpoint.gate("refund", {"amount"}, named)(40)), Why::failed);
    EXPECT_EQ(moved, 80);
}

TEST(Gate, T5_silence_is_no_consent) {
    People people;
    Holdpoint holdpoint = opened(people);
    Action action{.tool = "a"};
    action.asking.timeout = 1s;
    const Got<Release> release = holdpoint.request(action);
    EXPECT_EQ(why(release), Why::expired);
    EXPECT_NE(release.error().message.find("imed out"), std::string::npos);
}

TEST(Gate, WhatTheCallableThrowsIsReportedAndThrownOn) {
    People people({approve()});
    Holdpoint holdpoint = opened(people);
    auto gated =
        holdpoint.gate("a", [](const Json&) -> int { throw std::runtime_error("no disk"); });
    EXPECT_THROW((void)gated(Json::object()), std::runtime_error);
    const Result<std::vector<Request>> all = holdpoint.list(holdpoint.session());
    ASSERT_TRUE(all);
    EXPECT_EQ(all->at(0).report["success"].boolean(), false);
    EXPECT_EQ(all->at(0).report["error"].text(), "no disk");
}

TEST(Gate, X6_arguments_that_are_no_text_are_refused_with_a_reason) {
    People people({approve()});
    const Got<Release> release =
        opened(people).request({.tool = "a", .arguments = Json::object({{"name", Json("\xff")}})});
    EXPECT_EQ(why(release), Why::refused);
    EXPECT_NE(release.error().message.find("UTF-8"), std::string::npos) << release.error().message;
    EXPECT_TRUE(people.asked().empty());
}

TEST(Waiting, H3_an_application_may_decide_later) {
    People people;  // answers "not now"
    Holdpoint holdpoint = opened(people);
    std::jthread person([&] {
        while (people.asked().empty()) std::this_thread::yield();
        const Result<Request> decided =
            holdpoint.decide(people.asked()[0].id, {.kind = DecisionKind::approve, .by = "ann"});
        EXPECT_TRUE(decided) << decided.error().message;
    });
    const Got<Release> release = holdpoint.request({.tool = "a"});
    ASSERT_TRUE(release) << release.error().message;
    EXPECT_EQ(holdpoint.find(release->request_id)->decision->by, "ann");
}

TEST(Waiting, X1_the_agent_itself_cannot_decide) {
    People people;
    Holdpoint holdpoint = opened(people);
    std::jthread person([&] {
        while (people.asked().empty()) std::this_thread::yield();
        const std::string id = people.asked()[0].id;
        const Result<Request> forged =
            holdpoint.decide(id, {.kind = DecisionKind::approve, .by = "agent"});
        EXPECT_FALSE(forged);
        EXPECT_EQ(forged.error().code, ErrorCode::permission_denied);
        EXPECT_TRUE(holdpoint.decide(id, reject()));
    });
    EXPECT_EQ(why(holdpoint.request({.tool = "a"})), Why::rejected);
}

TEST(Unavailable, H1_X5_nobody_there_refuses_at_once_and_never_passes) {
    People people({approve()});
    people.leave();
    Holdpoint holdpoint = opened(people);
    const Got<Release> release = holdpoint.request({.tool = "a"});
    EXPECT_EQ(why(release), Why::unavailable);
    EXPECT_TRUE(people.asked().empty());
    EXPECT_EQ(why(holdpoint.ask({.question = "how many?"})), Why::unavailable);
}

TEST(Unavailable, X5_waiting_for_somebody_to_come_ends_at_the_deadline_of_the_request) {
    People people;
    people.leave();
    EmbeddedOptions options;
    options.human = people.interface();
    options.when_unavailable = WhenUnavailable::wait;
    options.timeout = 1s;
    EXPECT_EQ(why(opened(options).request({.tool = "a"})), Why::expired);
}

TEST(Unavailable, X6_an_interface_that_throws_counts_as_nobody) {
    EmbeddedOptions options;
    options.human =
        make_callback({.approval = [](const Request&, std::stop_token) -> std::optional<Decision> {
            throw std::runtime_error("x");
        }});
    EXPECT_EQ(why(opened(options).request({.tool = "a"})), Why::unavailable);
}

TEST(Unavailable, X6_a_store_that_cannot_be_opened_is_an_error_at_once) {
    EmbeddedOptions options;
    options.data = "/proc/nowhere";
    const Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    ASSERT_FALSE(holdpoint);
    EXPECT_EQ(holdpoint.error().code, ErrorCode::unavailable);
}

TEST(Unavailable, X6_a_server_that_is_not_there_runs_nothing) {
    Folder folder;
    const Result<Holdpoint> holdpoint = Holdpoint::connect({.url = "http://127.0.0.1:9",
                                                            .key = "k",
                                                            .unreachable_after = 150ms,
                                                            .state = folder.path});
    ASSERT_TRUE(holdpoint);
    Holdpoint remote = *holdpoint;
    bool has_run = false;
    const Got<Done> run = remote.gate("a", [&](const Json&) { has_run = true; })(Json::object());
    EXPECT_EQ(why(run), Why::unavailable);
    EXPECT_FALSE(has_run);
}

/// A port of this machine where connections are taken and nothing is ever said.
class SilentServer {
  public:
    SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const raw = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket_, raw, size) != 0 || ::listen(socket_, 8) != 0 ||
            ::getsockname(socket_, raw, &size) != 0)
            throw std::runtime_error("no port");
        port_ = ntohs(address.sin_port);
    }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;
    ~SilentServer() { ::close(socket_); }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  private:
    int socket_;
    int port_ = 0;
};

TEST(Unavailable, A1_a_server_that_says_nothing_keeps_nobody_beyond_the_deadline_or_a_stop) {
    Folder folder;
    SilentServer server;
    Holdpoint remote = *Holdpoint::connect({.url = server.url(), .key = "k", .state = folder.path});
    // A patience of 30 s would end as `unavailable`.
    const Wait short_wait{.deadline = std::chrono::steady_clock::now() + 100ms};
    EXPECT_EQ(why(remote.request({.tool = "a"}, short_wait)), Why::stopped);
    std::stop_source stop;
    std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(why(remote.request({.tool = "a"}, {.stop = stop.get_token()})), Why::stopped);
}

TEST(Connect, X3_a_key_never_goes_unencrypted_beyond_this_machine) {
    for (const char* url : {"http://example.org", "http://127.0.0.1.example.org",
                            "http://localhost@example.org", "ftp://127.0.0.1", "nonsense"})
        EXPECT_FALSE(Holdpoint::connect({.url = url, .key = "k"})) << url;
}

TEST(Ask, Q3_each_type_of_question_gives_an_answer_of_its_type) {
    People people({answer("blue"), answer(7), answer("b"), answer(Json::array({"a", "b"})),
                   answer("2026-11-15"),
                   answer(Json::object({{"name", "a.txt"}, {"content_base64", "aGk="}}))});
    Holdpoint holdpoint = opened(people);
    EXPECT_EQ(holdpoint.ask({.question = "which colour?"})->text(), "blue");
    EXPECT_EQ(holdpoint.ask({.question = "how many?", .type = InputType::number})->number(), 7);
    EXPECT_EQ(
        holdpoint.ask({.question = "which?", .type = InputType::choice, .options = {"a", "b"}})
            ->text(),
        "b");
    EXPECT_EQ(
        holdpoint
            .ask({.question = "which?", .type = InputType::multi_choice, .options = {"a", "b"}})
            ->size(),
        2U);
    EXPECT_EQ(holdpoint.ask({.question = "when?", .type = InputType::date})->text(), "2026-11-15");
    EXPECT_EQ((*holdpoint.ask({.question = "what?", .type = InputType::file}))["name"].text(),
              "a.txt");
}

TEST(Coroutines, A1_an_executor_that_goes_on_at_once_is_not_waited_for_by_itself) {
    People people({approve()});
    EmbeddedOptions options;
    options.human = people.interface();
    options.resume_on = [](std::move_only_function<void()> work) { work(); };
    Holdpoint holdpoint = opened(options);
    const Got<Json> ran = sync_wait(holdpoint.run_async(
        {.tool = "a"}, [](const Json&) -> Result<Json> { return Json("done"); }));
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(ran->text(), "done");
    EXPECT_EQ(holdpoint.list()->at(0).report["success"].boolean(), true);
}

struct Diary : Observer {
    std::vector<std::string> lines;
    void on_asked(const Request& request) override { lines.push_back("asked " + request.tool()); }
    void on_decided(const Request& request) override {
        lines.push_back("decided " + std::string(core::to_string(*request.outcome)));
    }
    void on_ran(const Request&, const Release& release, const Ran& ran) override {
        lines.push_back("ran " + release.arguments.dump() + " " + ran.result.dump());
    }
};

TEST(Observers, AreToldInOrderAndCannotStopAnything) {
    struct Thrower : Observer {
        void on_decided(const Request&) override { throw std::runtime_error("no"); }
    };
    People people({approve(), reject()});
    Holdpoint holdpoint = opened(people);
    const auto diary = std::make_shared<Diary>();
    holdpoint.add(std::make_shared<Thrower>());
    holdpoint.add(diary);
    auto gated = holdpoint.gate("a", [](const Json&) { return 7; });
    EXPECT_TRUE(gated(Json::object()));
    EXPECT_FALSE(gated(Json::object()));
    EXPECT_EQ(diary->lines, (std::vector<std::string>{"asked a", "decided approved", "ran {} 7",
                                                      "asked a", "decided rejected"}));
}

TEST(Observers, WhoIsAddedTwiceIsToldOnceAndStaysUntilRemovedTwice) {
    People people({approve(), approve(), approve()});
    Holdpoint holdpoint = opened(people);
    const auto diary = std::make_shared<Diary>();
    holdpoint.add(diary);
    holdpoint.add(diary);
    EXPECT_TRUE(holdpoint.request({.tool = "a"}));
    EXPECT_EQ(diary->lines.size(), 2U);
    holdpoint.remove(diary);
    EXPECT_TRUE(holdpoint.request({.tool = "a"}));
    EXPECT_EQ(diary->lines.size(), 4U);
    holdpoint.remove(diary);
    EXPECT_TRUE(holdpoint.request({.tool = "a"}));
    EXPECT_EQ(diary->lines.size(), 4U);
    EXPECT_EQ(diary.use_count(), 1);
}

TEST(Advisors, F2_what_an_advisor_refuses_is_not_even_proposed) {
    struct Strict : Advisor {
        std::optional<std::string> refuses(const Action& action) override {
            if (action.tool == "bad") return "It was rejected before.";
            if (action.tool == "worse") throw std::runtime_error("cannot tell");
            return std::nullopt;
        }
        std::string advice() override { return "Avoid bad."; }
    };
    People people({approve()});
    Holdpoint holdpoint = opened(people);
    holdpoint.add(std::make_shared<Strict>());
    EXPECT_EQ(why(holdpoint.request({.tool = "bad"})), Why::refused);
    EXPECT_EQ(why(holdpoint.request({.tool = "worse"})), Why::refused);
    EXPECT_TRUE(people.asked().empty());
    const std::vector<Got<Release>> batch =
        holdpoint.propose_batch({{.tool = "bad"}, {.tool = "a"}});
    EXPECT_EQ(why(batch[0]), Why::refused);
    EXPECT_TRUE(batch[1]);
    EXPECT_EQ(holdpoint.advice(), "Avoid bad.");
}

TEST(Policies, G8_a_custom_gate_in_code_holds_what_it_says_and_what_it_cannot_tell) {
    People people({reject(), reject()});
    EmbeddedOptions options;
    options.human = people.interface();
    options.tools = {{.name = "bash"}};
    options.gates = {
        {.name = "production", .type = GateType::custom, .condition = [](const Action& a) {
             const std::string command = a.arguments["command"].text().value();
             return command.find("prod") != std::string::npos;
         }}};
    Holdpoint holdpoint = opened(options);
    const auto run = [&](Json arguments) {
        return holdpoint.request({.tool = "bash", .arguments = std::move(arguments)});
    };
    EXPECT_TRUE(run(Json::object({{"command", "ls"}})));
    EXPECT_EQ(why(run(Json::object({{"command", "deploy prod"}}))), Why::rejected);
    EXPECT_EQ(why(run(Json::object({{"command", 7}}))), Why::rejected);
    EXPECT_EQ(people.asked().size(), 2U);
}

TEST(Policies, G11_a_tool_may_ask_for_approval_by_its_arguments) {
    People people({reject()});
    EmbeddedOptions options;
    options.human = people.interface();
    options.preset = "minimal";
    Holdpoint holdpoint = opened(options);
    ToolFacts facts{.name = "refund"};
    facts.approval_condition = [](const Json& arguments) {
        return arguments["amount"].number().value() > 100;
    };
    ASSERT_TRUE(holdpoint.declare({facts}));
    const auto run = [&](double amount) {
        return holdpoint.request(
            {.tool = "refund", .arguments = Json::object({{"amount", amount}})});
    };
    EXPECT_TRUE(run(5));
    EXPECT_EQ(why(run(500)), Why::rejected);
}

TEST(Policies, G11_of_several_words_about_a_tool_the_stricter_counts) {
    const ToolFacts free{.name = "send", .is_read_only = true};
    const ToolFacts strict{.name = "send", .requires_approval = true};
    ToolFacts by_arguments{.name = "send"};
    by_arguments.approval_condition = [](const Json&) { return true; };
    const auto holds = [](EmbeddedOptions options, const std::vector<ToolFacts>& later) {
        People people({reject()});
        options.human = people.interface();
        Holdpoint holdpoint = opened(options);
        for (const ToolFacts& facts : later) EXPECT_TRUE(holdpoint.declare({facts}));
        return !holdpoint.request({.tool = "send"}) && people.asked().size() == 1;
    };
    EmbeddedOptions minimal;
    minimal.preset = "minimal";
    EXPECT_FALSE(holds(minimal, {free}));
    EXPECT_TRUE(holds(minimal, {free, strict}));
    EXPECT_TRUE(holds(minimal, {strict, free}));
    EXPECT_TRUE(holds(minimal, {free, by_arguments, free}));
    EmbeddedOptions known = minimal;
    known.tools = {free};
    EXPECT_FALSE(holds(known, {{.name = "send"}}));  // a toolbox that says nothing
    EXPECT_TRUE(holds(known, {strict}));
    EmbeddedOptions filed;
    filed.policy =
        "holdpoint: 1\npolicy: p\nextends: minimal\ntools:\n  send: {read_only: true, risk: low}\n";
    EXPECT_FALSE(holds(filed, {free}));
    EXPECT_TRUE(holds(filed, {strict}));
    EmbeddedOptions asked = filed;
    asked.policy =
        "holdpoint: 1\npolicy: p\nextends: minimal\ntools:\n  send: {requires_approval: true}\n";
    EXPECT_TRUE(holds(asked, {free}));
}

TEST(Policies, G11_facts_count_for_as_long_as_they_are_kept) {
    People people({reject()});
    EmbeddedOptions options;
    options.human = people.interface();
    options.preset = "minimal";
    options.tools = {{.name = "send"}};
    Holdpoint holdpoint = opened(options);
    {
        ToolFacts facts{.name = "send"};
        facts.approval_condition = [](const Json&) { return true; };
        const Result<std::shared_ptr<void>> kept = holdpoint.declare_while({facts});
        ASSERT_TRUE(kept);
        EXPECT_EQ(why(holdpoint.request({.tool = "send"})), Why::rejected);
    }
    EXPECT_TRUE(holdpoint.request({.tool = "send"}));
}

TEST(Policies, G9_a_gate_with_a_quorum_needs_two_people) {
    People people({{.kind = DecisionKind::approve, .by = "ann"},
                   {.kind = DecisionKind::approve, .by = "bob"}});
    EmbeddedOptions options;
    options.human = people.interface();
    options.tools = {{.name = "pay"}};
    options.groups = {{"finance", {"ann", "bob"}}};
    options.gates = {{.name = "pay",
                      .type = GateType::specific_tools,
                      .tools = {"pay"},
                      .approvers = {{"finance", 2}}}};
    const Got<Release> release = opened(options).request({.tool = "pay"});
    ASSERT_TRUE(release) << release.error().message;
    EXPECT_EQ(people.asked().size(), 2U);
}

/// A program that is started again and again in one named session.
class Sessions : public testing::Test {
  protected:
    Holdpoint start(People& people) {
        EmbeddedOptions options;
        options.data = folder_.path;
        options.human = people.interface();
        options.labels.session = "night shift";
        return opened(options);
    }
    /// Runs what was released.
    std::vector<Got<Json>> batch(Holdpoint& holdpoint, const std::vector<Action>& actions) {
        std::vector<Got<Json>> all;
        for (const Got<Release>& release : holdpoint.propose_batch(actions))
            all.push_back(
                release ? holdpoint.run_released(
                              *release, [this](const Json&) -> Result<Json> { return ++runs_; })
                        : Got<Json>(std::unexpected(release.error())));
        return all;
    }
    /// Stops at once, and leaves the request for a later process.
    static Wait in_vain() {
        return {.deadline = std::chrono::steady_clock::now() + 50ms, .must_keep_request = true};
    }

    Folder folder_;
    int runs_ = 0;
    const Action first_{.tool = "refund", .arguments = Json::object({{"order", "A-1"}})};
    const Action second_{.tool = "refund", .arguments = Json::object({{"order", "A-2"}})};
};

TEST_F(Sessions, S1_a_named_session_finds_its_request_again_and_runs_it_once) {
    const auto work = [this](const Json&) { return ++runs_; };
    const Json& arguments = first_.arguments;
    std::string id;
    {
        People people;  // nobody answers, and the program ends
        Holdpoint holdpoint = start(people);
        const Got<Release> release = holdpoint.request(first_, in_vain());
        ASSERT_EQ(why(release), Why::stopped);
        id = release.error().request->id;
    }
    {
        People people({approve()});
        Holdpoint holdpoint = start(people);
        EXPECT_EQ(*holdpoint.gate("refund", work)(arguments), 1);
        ASSERT_EQ(people.asked().size(), 1U);
        EXPECT_EQ(people.asked()[0].id, id);
    }
    {
        People people({approve()});
        Holdpoint holdpoint = start(people);
        EXPECT_EQ(*holdpoint.gate("refund", work)(arguments), 1);  // what it gave then
        EXPECT_EQ(runs_, 1);
        EXPECT_TRUE(people.asked().empty());
        // The same again is a new request: it asks.
        EXPECT_EQ(*holdpoint.gate("refund", work)(arguments), 2);
        EXPECT_EQ(people.asked().size(), 1U);
    }
}

struct RefusesTheSecond : Advisor {
    std::optional<std::string> refuses(const Action& action) override {
        if (action.arguments["order"].text() == "A-2") return "It was rejected before.";
        return std::nullopt;
    }
};

TEST_F(Sessions, S1_a_batch_is_found_again_whatever_an_advisor_says_by_then) {
    {
        People people({approve(), reject("not that one")});
        Holdpoint holdpoint = start(people);
        EXPECT_TRUE(batch(holdpoint, {first_, second_})[0]);
        EXPECT_EQ(runs_, 1);
    }
    People people({approve(), approve()});
    Holdpoint holdpoint = start(people);
    holdpoint.add(std::make_shared<RefusesTheSecond>());
    const std::vector<Got<Json>> again = batch(holdpoint, {first_, second_});
    EXPECT_EQ(why(again[0]), Why::already_ran);
    EXPECT_EQ(why(again[1]), Why::rejected);
    EXPECT_EQ(runs_, 1);
    EXPECT_TRUE(people.asked().empty());
}

TEST_F(Sessions, S1_an_action_of_a_batch_is_found_again_in_other_company) {
    {
        People people({approve(), approve()});
        Holdpoint holdpoint = start(people);
        batch(holdpoint, {first_, second_});
        EXPECT_EQ(runs_, 2);
    }
    People people({approve()});
    Holdpoint holdpoint = start(people);
    EXPECT_EQ(why(batch(holdpoint, {second_})[0]), Why::already_ran);
    const Action third{.tool = "refund", .arguments = Json::object({{"order", "A-3"}})};
    const std::vector<Got<Json>> mixed = batch(holdpoint, {third, first_});
    EXPECT_TRUE(mixed[0]);
    EXPECT_EQ(why(mixed[1]), Why::already_ran);
    EXPECT_EQ(runs_, 3);
    EXPECT_EQ(people.asked().size(), 1U);
}

TEST_F(Sessions, S1_what_the_store_has_forgotten_is_proposed_anew_unless_it_was_begun) {
    {
        People people({approve()});
        Holdpoint holdpoint = start(people);
        EXPECT_TRUE(batch(holdpoint, {first_})[0]);
        EXPECT_EQ(why(holdpoint.request(second_, in_vain())), Why::stopped);
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path))
        if (entry.is_regular_file()) std::filesystem::remove(entry.path());
    People people({approve()});
    Holdpoint holdpoint = start(people);
    const std::vector<Got<Json>> again = batch(holdpoint, {first_, second_});
    EXPECT_EQ(why(again[0]), Why::already_ran);
    EXPECT_EQ(again[0].error().result.number(), 1);
    ASSERT_TRUE(again[1]) << again[1].error().message;
    EXPECT_EQ(runs_, 2);
    EXPECT_EQ(people.asked().size(), 1U);
}

}  // namespace
}  // namespace holdpoint::test
