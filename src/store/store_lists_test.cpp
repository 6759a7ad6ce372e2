// The promises of store.h about lists, against a model kept beside the store.

#include "store/test_contract.h"

namespace holdpoint::store {
namespace {

bool matches(const Request& request, const ListFilter& filter) {
    const auto is = [](const auto& wanted, const auto& value) {
        return !wanted || *wanted == value;
    };
    return is(filter.state, request.state) &&
           (!filter.outcome || filter.outcome == request.outcome) &&
           is(filter.session, request.session) && is(filter.thread, request.thread) &&
           is(filter.task, request.task) && is(filter.user, request.user) &&
           is(filter.agent, request.agent) && is(filter.tool, request.tool) &&
           is(filter.risk, request.risk) && is(filter.kind, request.kind) &&
           (!filter.batch || filter.batch == request.batch) &&
           (!filter.since || request.created_at >= *filter.since) &&
           (!filter.until || request.created_at < *filter.until) &&
           is(filter.agent_id, request.agent_id) && is(filter.is_released, request.is_released);
}

/// A few thousand requests with few distinct values, and the same kept in a vector.
class StoreLists : public StoreContract {
  protected:
    static constexpr int count = 3000;

    void SetUp() override {
        StoreContract::SetUp();
        for (int i = 0; i < 3; ++i) {
            agents_.push_back(PrincipalId::fresh(start));
            batches_.push_back(BatchId::fresh(start));
        }
        // In several commits: of a store in a file the last rows are still unfiled after them.
        constexpr int commit_rows = 400;
        for (int first = 0; first < count; first += commit_rows)
            put([this, first](Transaction& tx) -> Result<void> {
                model_.resize(static_cast<std::size_t>(first));
                random_.seed(7 + static_cast<unsigned>(first));
                for (int i = first; i < std::min(first + commit_rows, count); ++i) {
                    const Result<RequestPointer> made = add(tx, i);
                    if (!made) return made.error();
                    model_.push_back(*made);
                }
                return {};
            });
        // Some end only after they were filed.
        put([this](Transaction& tx) -> Result<void> {
            for (std::size_t i = 0; i < model_.size(); i += 5) {
                if (model_[i]->outcome) continue;
                const Result<RequestPointer> ended =
                    tx.apply(settled(*model_[i], Outcome::rejected, start + count * 10));
                if (!ended) return ended.error();
                model_[i] = *ended;
            }
            return {};
        });
    }

    int roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
    std::string one_of(const char* name, int sides) {
        const int value = roll(sides);
        return value == 0 ? std::string{} : name + std::to_string(value);
    }

    Result<RequestPointer> add(Transaction& tx, int i) {
        // Rows that come together may be slightly out of order in time.
        Request made = request(start + (i * 10 - roll(40)));
        made.session = one_of("s", 40);
        made.thread = one_of("t", 10);
        made.task = one_of("k", 6);
        made.user = one_of("u", 5);
        made.tool = one_of("tool", 6);
        made.agent_id = agents_[static_cast<std::size_t>(roll(3))];
        made.agent = one_of("bot", 4) + "x";
        made.risk = static_cast<RiskLevel>(roll(4));
        made.kind = static_cast<Kind>(roll(20) == 0 ? roll(5) : 0);
        if (roll(10) == 0) made.batch = batches_[static_cast<std::size_t>(roll(3))];
        Result<RequestPointer> stored = tx.apply(opened(std::move(made)));
        if (!stored || roll(3) == 0) return stored;
        const auto outcome = static_cast<Outcome>(roll(11));
        Step step = settled(**stored, outcome, start + i * 10);
        step.request.is_released = outcome == Outcome::allowed || outcome == Outcome::approved ||
                                   outcome == Outcome::modified ||
                                   (outcome == Outcome::expired && roll(2) == 0);
        if (step.request.kind == Kind::input) step.request.is_released = false;
        return tx.apply(std::move(step));
    }

    /// Sets one field of the filter to a value that occurs (mostly).
    void narrow(ListFilter& filter, int field) {
        switch (field) {
            case 0:
                filter.state = static_cast<State>(roll(2));
                break;
            case 1:
                filter.outcome = static_cast<Outcome>(roll(11));
                break;
            case 2:
                filter.session = "s" + std::to_string(roll(41));
                break;
            case 3:
                filter.thread = "t" + std::to_string(roll(11));
                break;
            case 4:
                filter.task = "k" + std::to_string(roll(7));
                break;
            case 5:
                filter.user = "u" + std::to_string(roll(6));
                break;
            case 6:
                filter.agent = one_of("bot", 5) + "x";
                break;
            case 7:
                filter.tool = one_of("tool", 7);
                break;
            case 8:
                filter.risk = static_cast<RiskLevel>(roll(4));
                break;
            case 9:
                filter.kind = static_cast<Kind>(roll(5));
                break;
            case 10:
                filter.batch = batches_[static_cast<std::size_t>(roll(3))];
                break;
            case 11:
                filter.since = start + roll(count * 10);
                break;
            case 12:
                filter.until = start + roll(count * 10);
                break;
            case 13:
                filter.agent_id = agents_[static_cast<std::size_t>(roll(3))];
                break;
            case 14:
                filter.is_released = roll(2) == 0;
                break;
        }
    }
    static constexpr int fields = 15;

    /// Pages through and compares with the vector.
    void expect_list(const ListFilter& filter, int limit) {
        std::vector<std::int64_t> expected, found;
        for (auto request = model_.rbegin(); request != model_.rend(); ++request)
            if (matches(**request, filter)) expected.push_back((*request)->row);
        ListQuery query{filter, 0, limit};
        do {
            const ListPage page = get([&](Transaction& tx) { return tx.list(query); });
            ASSERT_LE(page.requests.size(), static_cast<std::size_t>(limit));
            for (const RequestPointer& request : page.requests) found.push_back(request->row);
            query.before_row = page.next_before_row;
        } while (query.before_row != 0);
        EXPECT_EQ(found, expected);

        // The other way round it is the same.
        found.clear();
        query.after_row = 0;
        do {
            const ListPage page = get([&](Transaction& tx) { return tx.list(query); });
            EXPECT_EQ(page.next_before_row, 0);
            for (const RequestPointer& request : page.requests) found.push_back(request->row);
            query.after_row = page.next_after_row;
        } while (query.after_row != 0);
        EXPECT_EQ(found, std::vector<std::int64_t>(expected.rbegin(), expected.rend()));
    }

    std::mt19937 random_{7};
    std::vector<PrincipalId> agents_;
    std::vector<BatchId> batches_;
    std::vector<RequestPointer> model_;
};

TEST_P(StoreLists, EveryFilterAloneFindsWhatItShouldNewestFirst) {
    expect_list({}, 1000);
    for (int field = 0; field < fields; ++field) {
        for (int i = 0; i < 3; ++i) {
            SCOPED_TRACE("field " + std::to_string(field));
            ListFilter filter;
            narrow(filter, field);
            expect_list(filter, 250);
        }
    }
}

TEST_P(StoreLists, EveryPairOfFiltersFindsWhatItShould) {
    for (int first = 0; first < fields; ++first) {
        for (int second = first + 1; second < fields; ++second) {
            SCOPED_TRACE("fields " + std::to_string(first) + " and " + std::to_string(second));
            ListFilter filter;
            narrow(filter, first);
            narrow(filter, second);
            expect_list(filter, 100);
        }
    }
}

TEST_P(StoreLists, ManyFiltersTogetherFindWhatTheyShould) {
    for (int i = 0; i < 100; ++i) {
        ListFilter filter;
        for (int n = 0; n < 3; ++n) narrow(filter, roll(fields));
        expect_list(filter, 1 + roll(50));
    }
}

TEST_P(StoreLists, AnEmptyTextMeansTheRequestsWithoutOne) {
    ListFilter filter;
    filter.session = "";
    expect_list(filter, 100);
    filter.tool = "";
    expect_list(filter, 100);
}

TEST_P(StoreLists, APageIsNotDisturbedByWhatArrivesMeanwhile) {
    ListQuery query{{}, 0, 10};
    const ListPage first = get([&](Transaction& tx) { return tx.list(query); });
    create(request(start + count * 10));
    query.before_row = first.next_before_row;
    const ListPage second = get([&](Transaction& tx) { return tx.list(query); });
    EXPECT_EQ(second.requests.front()->row, first.requests.back()->row - 1);
}

TEST_P(StoreLists, EventsAreFilteredByWhatWasTrueThen) {
    const std::int64_t before = get([](Transaction& tx) { return tx.last_event(); });
    Request made = request(start);
    made.risk = RiskLevel::low;
    Step opening = opened(made);
    opening.request.session = "then";
    const RequestPointer first = get([&](Transaction& tx) { return tx.apply(opening); });
    Step ending = settled(*first, Outcome::rejected, start + 1);
    ending.request.risk = RiskLevel::critical;
    get([&](Transaction& tx) { return tx.apply(ending); });

    const auto found = [&](auto change) {
        ListFilter filter;
        filter.session = "then";
        change(filter);
        std::vector<std::int64_t> numbers;
        for (const Change& one :
             get([&](Transaction& tx) { return tx.events({.after = before}, filter, 10); }))
            numbers.push_back(one.event.seq - before);
        return numbers;
    };
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(found([](ListFilter&) {}), (Numbers{1, 2}));
    EXPECT_EQ(found([](ListFilter& f) { f.state = State::pending; }), (Numbers{1}));
    EXPECT_EQ(found([](ListFilter& f) { f.state = State::settled; }), (Numbers{2}));
    EXPECT_EQ(found([](ListFilter& f) { f.outcome = Outcome::rejected; }), (Numbers{2}));
    EXPECT_EQ(found([](ListFilter& f) { f.outcome = Outcome::approved; }), (Numbers{}));
    EXPECT_EQ(found([](ListFilter& f) { f.risk = RiskLevel::low; }), (Numbers{1}));
    EXPECT_EQ(found([](ListFilter& f) { f.risk = RiskLevel::critical; }), (Numbers{2}));
    EXPECT_EQ(found([](ListFilter& f) {
                  f.state = State::pending;
                  f.outcome = Outcome::rejected;
              }),
              (Numbers{}));
}

TEST_P(StoreLists, EventsAreFilteredLikeLists) {
    const std::vector<Change> all = get([](Transaction& tx) { return tx.events({}, {}, 10'000); });
    EXPECT_GT(all.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(all.back().event.seq, get([](Transaction& tx) { return tx.last_event(); }));
    for (int field = 0; field < fields; ++field) {
        SCOPED_TRACE("field " + std::to_string(field));
        ListFilter filter;
        narrow(filter, field);
        // What changes with time is another promise.
        if (filter.state || filter.outcome) continue;
        const std::int64_t after = roll(3000);
        const EventSpan span{after, after + roll(3000)};
        std::vector<std::int64_t> expected, found;
        for (const Change& change : all)
            if (change.event.seq > span.after && change.event.seq <= span.up_to &&
                matches(*change.request, filter) && expected.size() < 50)
                expected.push_back(change.event.seq);
        for (const Change& change :
             get([&](Transaction& tx) { return tx.events(span, filter, 50); }))
            found.push_back(change.event.seq);
        EXPECT_EQ(found, expected);
    }
}

TEST_P(StoreLists, CountersAgreeWithARecount) {
    std::map<Outcome, std::int64_t> outcomes;
    std::map<PrincipalId, std::int64_t> pending;
    std::int64_t all_pending = 0;
    for (const RequestPointer& request : model_) {
        if (request->outcome) ++outcomes[*request->outcome];
        if (request->outcome) continue;
        ++all_pending;
        ++pending[request->agent_id];
    }
    const Counters counters = get([](Transaction& tx) { return tx.counters(); });
    EXPECT_EQ(counters.pending, all_pending);
    ASSERT_EQ(counters.by_outcome.size(), 11u);
    for (const auto& [outcome, number] : counters.by_outcome) EXPECT_EQ(number, outcomes[outcome]);
    for (const PrincipalId& agent : agents_)
        EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent); }), pending[agent]);
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent_); }), 0);
}

TEST_P(StoreLists, PendingInASessionComeOldestFirst) {
    for (const char* session : {"s1", "s2", "", "unknown"}) {
        for (const PrincipalId& agent : agents_) {
            std::vector<RequestId> expected;
            for (const RequestPointer& request : model_)
                if (!request->outcome && request->session == session && request->agent_id == agent)
                    expected.push_back(request->id);
            EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_in_session(agent, session); }),
                      expected);
        }
    }
}

TEST_P(StoreLists, WhatIsDueInASessionIsFoundHoweverMuchElseIsDue) {
    std::vector<Timestamp> moments{start};  // nothing is due
    for (const RequestPointer& request : model_)
        if (!request->outcome) moments.push_back(request->next_at);
    std::ranges::sort(moments);
    for (const Timestamp now : {moments.front(), moments[moments.size() / 2], moments.back()}) {
        for (const char* session : {"s1", "s2", "", "unknown"}) {
            for (const PrincipalId& agent : agents_) {
                std::vector<RequestId> expected;
                for (const RequestPointer& request : model_)
                    if (!request->outcome && request->session == session &&
                        request->agent_id == agent && request->next_at <= now)
                        expected.push_back(request->id);
                std::vector<RequestId> found =
                    get([&](Transaction& tx) { return tx.due_in_session(agent, session, now); });
                EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
            }
        }
    }
}

TEST_P(StoreLists, ABatchComesInItsOrder) {
    for (const BatchId& batch : batches_) {
        std::vector<std::int64_t> expected, found;
        for (const RequestPointer& request : model_)
            if (request->batch == batch) expected.push_back(request->row);
        for (const RequestPointer& request : get([&](Transaction& tx) { return tx.batch(batch); }))
            found.push_back(request->row);
        EXPECT_EQ(found, expected);
    }
    EXPECT_THAT(get([](Transaction& tx) { return tx.batch(BatchId::fresh(start)); }), IsEmpty());
}

TEST_P(StoreLists, S4_AfterARestartEverythingIsAsItWas) {
    if (!factory_->is_durable()) GTEST_SKIP() << "this store keeps nothing";
    const std::int64_t last = get([](Transaction& tx) { return tx.last_event(); });
    const Counters before = get([](Transaction& tx) { return tx.counters(); });
    open();
    expect_list({}, 1000);
    ListFilter filter;
    filter.state = State::pending;
    filter.agent_id = agents_[1];
    expect_list(filter, 1000);
    const Counters after = get([](Transaction& tx) { return tx.counters(); });
    EXPECT_EQ(after.pending, before.pending);
    EXPECT_EQ(after.by_outcome, before.by_outcome);
    EXPECT_EQ(after.oldest_pending, before.oldest_pending);
    EXPECT_EQ(get([](Transaction& tx) { return tx.last_event(); }), last);
    const RequestPointer next = create(request(start + count * 10));
    EXPECT_EQ(next->row, model_.back()->row + 1);
    EXPECT_EQ(get([](Transaction& tx) { return tx.last_event(); }), last + 1);
    const PrincipalId agent = agents_[0];
    const std::int64_t pending = std::ranges::count_if(model_, [&](const RequestPointer& request) {
        return !request->outcome && request->agent_id == agent;
    });
    EXPECT_EQ(get([&](Transaction& tx) { return tx.pending_count(agent); }), pending);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreLists, testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace holdpoint::store
