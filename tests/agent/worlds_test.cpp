// What the library promises, kept alike by the engine in this process and by a server.
#include "tests/agent/worlds.h"

#include <atomic>
#include <thread>

namespace holdpoint::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

double world_refund(const std::string&, double amount) { return amount; }
const Json one = Json::object({{"n", 1}});

class Library : public testing::TestWithParam<std::string> {
  protected:
    /// Opens a world whose people will give these answers.
    Holdpoint with(std::deque<Decision> answers, const Executor& resume_on = {}) {
        enter(std::move(answers));
        return world_->open({}, resume_on);
    }
    void enter(std::deque<Decision> answers) {
        if (GetParam() == "embedded")
            world_ = std::make_unique<EmbeddedWorld>(std::move(answers));
        else
            world_ = std::make_unique<ServerWorld>(std::move(answers));
    }
    People& people() { return world_->people; }
    void wait_until_asked(std::size_t count = 1) {
        const auto give_up = steady_clock::now() + 30s;
        while (people().asked().size() < count && steady_clock::now() < give_up)
            std::this_thread::sleep_for(1ms);
        ASSERT_GE(people().asked().size(), count) << "nobody was asked";
    }
    /// Waits for what is on its way.
    static void expect_outcome(Holdpoint& holdpoint, const std::string& id, Outcome outcome) {
        const auto give_up = steady_clock::now() + 30s;
        Result<Request> request = holdpoint.find(id);
        while (request && !request->is_settled() && steady_clock::now() < give_up) {
            std::this_thread::sleep_for(1ms);
            request = holdpoint.find(id);
        }
        ASSERT_TRUE(request) << request.error().message;
        EXPECT_EQ(request->outcome, outcome);
    }

    std::unique_ptr<World> world_;
};

INSTANTIATE_TEST_SUITE_P(, Library, testing::Values("embedded", "server"),
                         [](const auto& info) { return info.param; });

TEST_P(Library, A1_what_a_person_approves_runs_and_is_reported) {
    Holdpoint holdpoint = with({approve()});
    int runs = 0;
    const Got<int> ran = holdpoint.gate("count", [&](const Json&) { return ++runs; })(one);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(*ran, 1);
    const Result<std::vector<Request>> all = holdpoint.list(holdpoint.session());
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 1U);
    EXPECT_EQ(all->at(0).decision->by, "ann");
    EXPECT_EQ(all->at(0).report["result"].number(), 1);
}

TEST_P(Library, A1_D2_what_a_person_rejects_does_not_run_and_the_reason_comes_back) {
    Holdpoint holdpoint = with({reject("it was refunded already")});
    bool has_run = false;
    const Got<Done> ran = holdpoint.gate("refund", [&](const Json&) { has_run = true; })(one);
    EXPECT_EQ(why(ran), Why::rejected);
    EXPECT_NE(ran.error().message.find("it was refunded already"), std::string::npos);
    EXPECT_FALSE(has_run);
}

TEST_P(Library, D3_modified_arguments_run_as_modified_or_not_at_all) {
    Holdpoint holdpoint = with({modify(Json::object({{"order", "A-1"}, {"amount", 25}})),
                                modify(Json::object({{"order", "A-1"}, {"amount", "much"}}))});
    auto gated = holdpoint.gate("refund", {"order", "amount"}, world_refund);
    const Got<double> paid = gated("A-1", 40);
    ASSERT_TRUE(paid) << paid.error().message;
    EXPECT_EQ(*paid, 25);
    const Got<double> unfit = gated("A-1", 40);
    EXPECT_EQ(why(unfit), Why::broken);
    EXPECT_NE(unfit.error().message.find("amount"), std::string::npos);
}

TEST_P(Library, A1_each_way_to_say_no_has_its_own_word) {
    Holdpoint holdpoint = with({defer("ask the customer first"), abort_run("wrong shop")});
    const Got<Release> deferred = holdpoint.request({.tool = "a"});
    EXPECT_EQ(why(deferred), Why::deferred);
    EXPECT_NE(deferred.error().message.find("ask the customer first"), std::string::npos);
    EXPECT_EQ(why(holdpoint.request({.tool = "b"})), Why::aborted);
    const Got<Release> denied = holdpoint.request({.tool = "drop"});
    EXPECT_EQ(why(denied), Why::denied);
    EXPECT_NE(denied.error().message.find("not here"), std::string::npos);
    Action silent{.tool = "c"};
    silent.asking.timeout = 1s;
    EXPECT_EQ(why(holdpoint.request(silent)), Why::expired);
    const Got<Release> wrong = holdpoint.request({.tool = ""});
    EXPECT_EQ(why(wrong), Why::refused);
    EXPECT_NE(wrong.error().message.find("tool"), std::string::npos);
}

TEST_P(Library, Q3_a_question_gives_an_answer_of_its_type_and_an_unfit_one_is_not_taken) {
    Holdpoint holdpoint = with({answer("blue"), answer(700), answer(7)});
    EXPECT_EQ(holdpoint.ask({.question = "Which colour?"})->text(), "blue");
    const Got<Json> told =
        holdpoint.ask({.question = "How many?", .type = InputType::number, .min = 0, .max = 10});
    ASSERT_TRUE(told) << told.error().message;
    EXPECT_EQ(told->number(), 7);
    ASSERT_EQ(people().told().size(), 1U);
    EXPECT_NE(people().told()[0].find("at most 10"), std::string::npos);
}

TEST_P(Library, Q2_a_plan_comes_back_as_it_was_approved) {
    Holdpoint holdpoint = with(
        {{.kind = DecisionKind::approve, .approved_steps = std::vector{1, 3}}, reject("too far")});
    const Plan plan{.title = "Move",
                    .steps = {{"pack"}, {.action = "rest", .is_optional = true}, {"drive"}}};
    const Got<Plan> approved = holdpoint.propose_plan(plan);
    ASSERT_TRUE(approved) << approved.error().message;
    ASSERT_EQ(approved->steps.size(), 2U);
    EXPECT_EQ(approved->steps[1].action, "drive");
    EXPECT_EQ(why(holdpoint.propose_plan(plan)), Why::rejected);
}

TEST_P(Library, Q9_each_action_of_a_turn_has_its_own_answer_in_order) {
    Holdpoint holdpoint =
        with({approve(), reject("not that one"), modify(Json::object({{"n", 30}}))});
    std::vector<Action> actions;
    for (int n = 1; n <= 3; ++n)
        actions.push_back({.tool = "t", .arguments = Json::object({{"n", n}})});
    const std::vector<Got<Release>> answers = holdpoint.propose_batch(actions);
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(why(answers[1]), Why::rejected);
    EXPECT_EQ(answers[2]->arguments.dump(), R"({"n":30})");
    EXPECT_FALSE(people().asked()[0].batch.empty());
}

TEST_P(Library, Q4_yes_no_and_silence_are_three_answers) {
    Holdpoint holdpoint = with({approve(), reject()});
    EXPECT_EQ(holdpoint.confirm({.message = "Go on?"}), true);
    EXPECT_EQ(holdpoint.confirm({.message = "Go on?"}), false);
    Confirmation silent{.message = "Go on?"};
    silent.asking.timeout = 1s;
    EXPECT_EQ(why(holdpoint.confirm(silent)), Why::expired);
}

TEST_P(Library, G4_a_final_answer_is_given_as_it_was_approved) {
    Holdpoint holdpoint = with(
        {approve(), modify(Json::object({{"text", "Done, with thanks."}})), reject("too short")});
    EXPECT_EQ(holdpoint.respond("Done."), "Done.");
    EXPECT_EQ(holdpoint.respond("Done."), "Done, with thanks.");
    EXPECT_EQ(why(holdpoint.respond("Done.")), Why::rejected);
}

TEST_P(Library, X2_a_release_runs_once_and_only_as_it_was_given) {
    Holdpoint holdpoint = with({approve(), approve()});
    int runs = 0;
    const auto work = [&](const Json&) -> Result<Json> { return ++runs; };
    Got<Release> release = holdpoint.request({.tool = "a", .arguments = one});
    ASSERT_TRUE(release) << release.error().message;
    Release forged = *release;
    forged.arguments = Json::object({{"n", 1000}});
    EXPECT_EQ(why(holdpoint.run_released(forged, work)), Why::broken);
    release = holdpoint.request({.tool = "a", .arguments = Json::object({{"n", 2}})});
    EXPECT_TRUE(holdpoint.run_released(*release, work));
    EXPECT_FALSE(holdpoint.run_released(*release, work));
    EXPECT_EQ(runs, 1);
}

TEST_P(Library, A1_a_stop_token_ends_every_form_and_withdraws_the_request) {
    Holdpoint holdpoint = with({});
    const std::vector<std::function<Why(const Wait&)>> forms = {
        [&](const Wait& wait) { return why(holdpoint.request({.tool = "a"}, wait)); },
        [&](const Wait& wait) { return why(holdpoint.ask({.question = "Which?"}, wait)); },
        [&](const Wait& wait) { return why(holdpoint.confirm({.message = "Sure?"}, wait)); },
        [&](const Wait& wait) { return why(holdpoint.respond("Done.", {}, wait)); },
        [&](const Wait& wait) {
            return why(holdpoint.propose_plan({.title = "Move", .steps = {{"pack"}}}, wait));
        },
        [&](const Wait& wait) { return why(holdpoint.propose_batch({{.tool = "b"}}, wait)[0]); },
        [&](const Wait& wait) {
            return why(holdpoint.gate("refund", {"order", "amount"}, world_refund)("A", 1, wait));
        }};
    for (std::size_t i = 0; i < forms.size(); ++i) {
        std::stop_source stop;
        std::jthread stopper([&] {
            wait_until_asked(i + 1);
            stop.request_stop();
        });
        EXPECT_EQ(forms[i]({.stop = stop.get_token()}), Why::stopped) << i;
        stopper.join();
        expect_outcome(holdpoint, people().asked().at(i).id, Outcome::cancelled);
    }
}

TEST_P(Library, A1_a_deadline_ends_the_wait_and_what_is_over_before_it_begins_is_not_proposed) {
    Holdpoint holdpoint = with({});
    const Got<Release> late =
        holdpoint.request({.tool = "a"}, {.deadline = steady_clock::now() + 300ms});
    EXPECT_EQ(why(late), Why::stopped);
    ASSERT_TRUE(late.error().request);
    expect_outcome(holdpoint, late.error().request->id, Outcome::cancelled);
    EXPECT_EQ(why(holdpoint.request({.tool = "a"}, {.deadline = steady_clock::now()})),
              Why::stopped);
    EXPECT_EQ(holdpoint.list(holdpoint.session())->size(), 1U);
}

/// Every coroutine form in one story.
Task<std::string> tell(Holdpoint holdpoint) {
    std::string told;
    Task<Got<Release>> requesting = holdpoint.request_async({.tool = "a"});
    const Got<Release> released = co_await requesting;
    told += released ? "released" : released.error().message;
    auto gated = holdpoint.gate("refund", {"order", "amount"}, world_refund);
    Task<Got<double>> paying = gated.async("A-1", 40);
    const Got<double> paid = co_await paying;
    told += paid ? " paid" + std::to_string(static_cast<int>(*paid)) : paid.error().message;
    Task<Got<Json>> running =
        holdpoint.run_async({.tool = "a"}, [](const Json&) -> Result<Json> { return Json("ran"); });
    const Got<Json> ran = co_await running;
    told += " " + ran->text_or("");
    Task<Got<Json>> asking = holdpoint.ask_async({.question = "Which?"});
    const Got<Json> answered = co_await asking;
    told += " " + answered->text_or("");
    Task<Got<Plan>> planning = holdpoint.propose_plan_async({.title = "Move", .steps = {{"pack"}}});
    const Got<Plan> plan = co_await planning;
    told += plan ? " plan" : plan.error().message;
    std::vector<Action> actions{{.tool = "b"}};
    Task<std::vector<Got<Release>>> proposing = holdpoint.propose_batch_async(std::move(actions));
    const std::vector<Got<Release>> batch = co_await proposing;
    told += batch.at(0) ? " batch" : batch.at(0).error().message;
    Task<Got<bool>> confirming = holdpoint.confirm_async({.message = "Sure?"});
    const Got<bool> is_sure = co_await confirming;
    told += is_sure && *is_sure ? " sure" : " unsure";
    Task<Got<std::string>> responding = holdpoint.respond_async("Done.");
    const Got<std::string> said = co_await responding;
    told += " " + said.value_or("nothing");
    Json body = Json::object({{"kind", "action"}, {"action", Json::object({{"tool", "c"}})}});
    Task<Got<Request>> settling = holdpoint.settle_async(std::move(body));
    const Got<Request> settled = co_await settling;
    told += settled && settled->outcome == Outcome::rejected ? " rejected" : " what?";
    co_return told;
}

TEST_P(Library, A1_every_form_has_a_twin_for_coroutines_that_goes_on_where_it_is_told) {
    RunLoop loop;
    Holdpoint holdpoint = with({approve(), approve(), approve(), answer("blue"), approve(),
                                approve(), approve(), approve(), reject()},
                               loop.executor());
    EXPECT_EQ(sync_wait(tell(holdpoint), loop),
              "released paid40 ran blue plan batch sure Done. rejected");
}

TEST_P(Library, A1_a_coroutine_can_be_stopped_while_it_waits) {
    Holdpoint holdpoint = with({});
    std::stop_source stop;
    std::jthread stopper([&] {
        wait_until_asked();
        stop.request_stop();
    });
    auto gated = holdpoint.gate("refund", {"order", "amount"}, world_refund);
    EXPECT_EQ(why(sync_wait(gated.async("A-1", 1, {.stop = stop.get_token()}))), Why::stopped);
}

TEST_P(Library, A6_H7_events_come_in_order_from_where_one_left_off) {
    Holdpoint holdpoint = with({approve(), approve()});
    ASSERT_TRUE(holdpoint.gate("a", [](const Json&) { return 1; })(one));
    std::vector<std::string> names;
    std::int64_t last = 0;
    const auto take_three = [&](const Event& event) {
        EXPECT_GT(event.seq, last);
        last = event.seq;
        names.push_back(event.name + " " + event.request.tool());
        // Whoever listens may use the same Holdpoint.
        EXPECT_TRUE(holdpoint.find(event.request.id));
        return names.size() % 3 != 0;
    };
    const EventFilter all{.session = holdpoint.session(), .after = 0};
    Result<void> ended = holdpoint.events(all, take_three);
    ASSERT_TRUE(ended) << ended.error().message;
    ASSERT_TRUE(holdpoint.gate("b", [](const Json&) { return 1; })(one));
    ended = holdpoint.events({.session = holdpoint.session(), .after = last}, take_three);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(names, (std::vector<std::string>{"approval-required a", "request-settled a",
                                               "tool-result a", "approval-required b",
                                               "request-settled b", "tool-result b"}));
}

TEST_P(Library, A6_events_of_another_session_are_left_out_and_a_stop_ends_the_stream) {
    Holdpoint holdpoint = with({approve(), approve()});
    ASSERT_TRUE(holdpoint.request({.tool = "ours"}));
    Holdpoint other = world_->open({.session = "another"}, {});
    ASSERT_TRUE(other.request({.tool = "theirs"}));
    std::stop_source stop;
    std::vector<std::string> tools;
    const Result<void> ended = other.events(
        {.session = "another", .after = 0},
        [&](const Event& event) {
            tools.push_back(event.request.tool());
            if (tools.size() == 2) stop.request_stop();
            return true;
        },
        stop.get_token());
    EXPECT_TRUE(ended);
    EXPECT_EQ(tools, (std::vector<std::string>{"theirs", "theirs"}));
}

TEST_P(Library, A6_a_coroutine_listens_where_it_is_told_and_hears_what_a_listener_throws) {
    RunLoop loop;
    Holdpoint holdpoint = with({approve()}, loop.executor());
    ASSERT_TRUE(holdpoint.request({.tool = "a"}));
    const std::thread::id here = std::this_thread::get_id();
    int heard = 0;
    const EventFilter all{.session = holdpoint.session(), .after = 0};
    const Result<void> ended =
        sync_wait(holdpoint.events_async(all,
                                         [&](const Event&) {
                                             EXPECT_EQ(std::this_thread::get_id(), here);
                                             return ++heard < 2;
                                         }),
                  loop);
    EXPECT_TRUE(ended);
    EXPECT_EQ(heard, 2);
    const Holdpoint::OnEvent thrower = [](const Event&) -> bool { throw std::runtime_error("x"); };
    EXPECT_THROW((void)sync_wait(holdpoint.events_async(all, thrower), loop), std::runtime_error);
    EXPECT_THROW((void)holdpoint.events(all, thrower), std::runtime_error);
}

TEST_P(Library, S1_a_named_session_finds_its_request_again_and_runs_it_once) {
    enter({});
    const Labels night{.session = "night shift"};
    int runs = 0;
    const auto work = [&](const Json&) { return ++runs; };
    std::string id;
    {
        Holdpoint holdpoint = world_->open(night, {});
        const Got<Release> release =
            holdpoint.request({.tool = "refund", .arguments = one},
                              {.deadline = steady_clock::now() + 300ms, .must_keep_request = true});
        ASSERT_EQ(why(release), Why::stopped);
        ASSERT_TRUE(release.error().request);
        id = release.error().request->id;
    }
    people().will(approve());
    if (GetParam() == "server") {
        // The people there were asked once and said "not now"; now they come back to it.
        auto& server = static_cast<ServerWorld&>(*world_);
        server.ask_again(id);
    }
    {
        Holdpoint holdpoint = world_->open(night, {});
        const Got<int> ran = holdpoint.gate("refund", work)(one);
        ASSERT_TRUE(ran) << ran.error().message;
        EXPECT_EQ(people().asked().back().id, id);
    }
    Holdpoint holdpoint = world_->open(night, {});
    EXPECT_EQ(*holdpoint.gate("refund", work)(one), 1);  // what it gave then
    EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace holdpoint::test
