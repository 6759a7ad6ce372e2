#include "notify/outbox_worker.h"

#include "service/test_store.h"

namespace holdpoint::notify {
namespace {

using namespace core::test;

/// Remembers what it was told to send, and fails as often as it was told to.
class FakeChannel : public Channel {
  public:
    struct Sent {
        core::EventKind about;
        RequestId request;
    };
    FakeChannel(std::string name, std::vector<Sent>& sent, int& failures)
        : name_(std::move(name)), sent_(sent), failures_(failures) {}
    const std::string& name() const override { return name_; }
    Result<void> send(core::EventKind about, const core::Request& request) override {
        if (failures_ > 0) {
            --failures_;
            return Error{ErrorCode::unavailable, "nobody listens"};
        }
        sent_.push_back({about, request.id});
        return {};
    }

  private:
    std::string name_;
    std::vector<Sent>& sent_;
    int& failures_;
};

class Outbox : public service::test::StoreTest {
  protected:
    Outbox() : StoreTest({"fake"}) { make_worker("fake"); }

    void make_worker(const std::string& channel) {
        std::vector<std::unique_ptr<Channel>> channels;
        channels.push_back(std::make_unique<FakeChannel>(channel, sent_, failures_));
        worker_ = std::make_unique<OutboxWorker>(*store_, clock_, std::move(channels));
    }
    std::vector<store::OutboxRow> rows() {
        return get([](store::Transaction& tx) {
            return tx.outbox_due(Timestamp{9'000'000'000'000}, 1000,
                                 [](const auto&) { return true; });
        });
    }
    /// Pokes, and lets everything that follows from it happen: the store keeps the order, so two
    /// questions later the rows are read and marked.
    void look() {
        worker_->poke();
        for (int i = 0; i < 4; ++i) (void)rows();
    }

    ManualClock clock_{start};
    std::vector<FakeChannel::Sent> sent_;
    int failures_ = 0;
    std::unique_ptr<OutboxWorker> worker_;
};

TEST_F(Outbox, sends_what_is_due_and_then_forgets_it) {
    const RequestId id = submitted()->id;
    ASSERT_EQ(rows().size(), 1u);
    look();
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0].about, core::EventKind::requested);
    EXPECT_EQ(sent_[0].request, id);
    EXPECT_TRUE(rows().empty());
    look();
    EXPECT_EQ(sent_.size(), 1u) << "nothing is sent twice";
}

TEST_F(Outbox, one_request_that_cannot_be_read_keeps_no_other_from_being_told) {
    const RequestId unreadable = submitted()->id;
    const RequestId whole = submitted()->id;
    damage(unreadable);
    look();
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0].request, whole);
    ASSERT_EQ(rows().size(), 1u) << "it is told once it can be read again";
    EXPECT_EQ(rows()[0].due_at, start + 60 * minute);
}

TEST_F(Outbox, a_row_goes_only_after_its_message_went_out) {
    submitted();
    failures_ = 1;
    look();
    EXPECT_TRUE(sent_.empty());
    ASSERT_EQ(rows().size(), 1u);
    EXPECT_EQ(rows()[0].attempts, 1);
    clock_.advance(1000);
    look();
    EXPECT_EQ(sent_.size(), 1u);
    EXPECT_TRUE(rows().empty());
}

TEST_F(Outbox, tries_again_after_ever_longer_times_up_to_an_hour) {
    submitted();
    failures_ = 1000;
    std::vector<std::int64_t> delays;
    for (int attempt = 0; attempt < 15; ++attempt) {
        look();
        ASSERT_EQ(rows().size(), 1u);
        delays.push_back(rows()[0].due_at - clock_.now());
        look();
        EXPECT_EQ(rows()[0].attempts, attempt + 1) << "not before it is due";
        clock_.advance(delays.back());
    }
    EXPECT_EQ(delays[0], 1000);
    EXPECT_EQ(delays[1], 2000);
    EXPECT_EQ(delays[5], 32'000);
    EXPECT_EQ(delays[14], 3'600'000);
    EXPECT_TRUE(std::is_sorted(delays.begin(), delays.end()));
}

TEST_F(Outbox, one_that_fails_does_not_hold_up_the_others) {
    submitted();
    submitted();
    submitted();
    failures_ = 1;
    look();
    EXPECT_EQ(sent_.size(), 2u);
    EXPECT_EQ(rows().size(), 1u);
}

TEST_F(Outbox, what_is_for_an_unknown_channel_stays) {
    make_worker("other");
    submitted();
    look();
    EXPECT_TRUE(sent_.empty());
    ASSERT_EQ(rows().size(), 1u);
    EXPECT_EQ(rows()[0].attempts, 1);
    // Configured again, it is sent.
    make_worker("fake");
    clock_.advance(1000);
    look();
    EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(Outbox, more_rows_than_one_look_takes_are_all_sent) {
    std::vector<core::Proposal> proposals(130, proposal());
    ASSERT_TRUE(submit_call(call_with(proposals)));
    worker_->poke();
    EXPECT_TRUE(pump_until([this] { return sent_.size() == 130; }));
}

TEST_F(Outbox, a_poke_while_a_look_finds_nothing_looks_again) {
    // The first look is under way when the request is stored and the second poke comes: its row
    // must not have to wait for somebody to poke a third time.
    worker_->poke();
    const service::SubmitCall call = call_with({proposal()});
    bool is_stored = false;
    store_->run(
        [&](store::Transaction& tx) {
            return service::submit(tx, *policy::compose(policy_), call);
        },
        [&](Result<service::Submitted>) { is_stored = true; });
    worker_->poke();
    EXPECT_TRUE(pump_until([&] { return is_stored; }));
    EXPECT_TRUE(pump_until([this] { return sent_.size() == 1; }));
}

TEST_F(Outbox, each_thing_that_happens_is_told) {
    const RequestId id = submitted()->id;
    ASSERT_FALSE(decide_now(id, core::DecisionKind::approve, person("ann"))->refusal);
    clock_.advance(1000);
    look();
    ASSERT_EQ(sent_.size(), 2u);
    EXPECT_EQ(sent_[0].about, core::EventKind::requested);
    EXPECT_EQ(sent_[1].about, core::EventKind::settled);
}

/// Tells two people of everything; one of them takes as long as the test wants.
class TwoPeople : public Channel {
  public:
    const std::string& name() const override { return name_; }
    Result<void> send(core::EventKind, const core::Request&) override { return {}; }
    bool has_targets() const override { return true; }
    Result<std::vector<std::string>> targets(store::Transaction&, core::EventKind,
                                             const core::Request&) const override {
        return std::vector<std::string>{"slow", "quick"};
    }
    void deliver(core::EventKind, std::shared_ptr<const core::Request> request,
                 const std::string& target, Done done) override {
        if (target == "quick") {
            quick.push_back(request->id);
            return done({});
        }
        slow.push_back(request->id);
        waiting.push_back(std::move(done));
    }

    std::vector<RequestId> slow, quick;
    std::vector<Done> waiting;

  private:
    std::string name_ = "fake";
};

class OutboxLanes : public Outbox {
  protected:
    OutboxLanes() {
        auto channel = std::make_unique<TwoPeople>();
        people_ = channel.get();
        std::vector<std::unique_ptr<Channel>> channels;
        channels.push_back(std::move(channel));
        worker_ = std::make_unique<OutboxWorker>(*store_, clock_, std::move(channels));
    }
    TwoPeople* people_ = nullptr;
};

TEST_F(OutboxLanes, H8_who_is_slow_keeps_nobody_else_waiting) {
    const RequestId first = submitted()->id;
    worker_->poke();
    ASSERT_TRUE(pump_until([this] { return people_->quick.size() == 1; }));
    EXPECT_EQ(people_->slow.size(), 1u);
    const RequestId second = submitted()->id;
    worker_->poke();
    EXPECT_TRUE(pump_until([this] { return people_->quick.size() == 2; }));
    EXPECT_EQ(people_->quick, (std::vector{first, second}));
}

TEST_F(OutboxLanes, who_is_slow_is_written_to_once_at_a_time_and_in_order) {
    std::vector<RequestId> asked;
    for (int i = 0; i < 3; ++i) asked.push_back(submitted()->id);
    worker_->poke();
    ASSERT_TRUE(pump_until([this] { return people_->quick.size() == 3; }));
    for (std::size_t done = 1; done <= 3; ++done) {
        EXPECT_EQ(people_->slow.size(), done);
        EXPECT_EQ(people_->slow.back(), asked[done - 1]);
        people_->waiting[done - 1]({});
        ASSERT_TRUE(
            pump_until([&] { return people_->slow.size() == std::min<std::size_t>(done + 1, 3); }));
    }
    ASSERT_TRUE(pump_until([this] { return rows().empty(); }));
    EXPECT_EQ(people_->slow, asked);
}

TEST_F(OutboxLanes, what_waits_for_who_is_slow_does_not_hide_the_rest) {
    std::vector<core::Proposal> proposals(250, proposal());
    ASSERT_TRUE(submit_call(call_with(proposals)));
    worker_->poke();
    EXPECT_TRUE(pump_until([this] { return people_->quick.size() == 250; }));
    EXPECT_EQ(people_->slow.size(), 1u);
}

TEST_F(OutboxLanes, nothing_is_sent_twice_while_it_is_on_its_way) {
    submitted();
    for (int i = 0; i < 5; ++i) look();
    clock_.advance(60'000);
    for (int i = 0; i < 5; ++i) look();
    EXPECT_EQ(people_->slow.size(), 1u);
    EXPECT_EQ(people_->quick.size(), 1u);
    people_->waiting.front()(Error{ErrorCode::unavailable, "nobody there"});
    for (int i = 0; i < 5; ++i) look();
    EXPECT_EQ(people_->slow.size(), 1u) << "and not again before it is due";
    clock_.advance(1000);
    look();
    EXPECT_EQ(people_->slow.size(), 2u);
}

}  // namespace
}  // namespace holdpoint::notify
