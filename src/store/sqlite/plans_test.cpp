// How the SQLite store finds things: by index or by drawer, whatever is asked.

#include <fmt/format.h>

#include <random>

#include "store/sqlite/migrations.h"
#include "store/sqlite/test_sqlite.h"

namespace holdpoint::store::sqlite {
namespace {

/// A database with a few hundred requests, without a store's thread around it.
class SqlitePlans : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(database_.open(":memory:", ""));
        ASSERT_TRUE(migrate(database_, "test"));
        file_beyond(unfiled_max);
        // The first 201 are filed, some of them before they end; the others are not.
        add(0, 300);
        add(300, 400);
        EXPECT_EQ(unfiled(), 199);
    }

    void file_beyond(std::int64_t limit) {
        searching_.emplace(database_,
                           SqliteTransaction::Setup{.skip_max = 0, .unfiled_max = limit});
        ASSERT_TRUE(searching_->load_tally());
    }
    void add(int first, int end) {
        ASSERT_TRUE(searching_->begin());
        searching_->begin_job();
        for (const RequestPtr& request : waiting_)
            ASSERT_TRUE(searching_->apply(settled(*request, core::Outcome::approved)));
        waiting_.clear();
        for (int i = first; i < end; ++i) {
            const Result<RequestPtr> made = searching_->apply(opened(i));
            ASSERT_TRUE(made);
            if (i % 13 == 0) waiting_.push_back(*made);
            if (i % 3 == 0 || i % 13 == 0) continue;
            ASSERT_TRUE(searching_->apply(settled(**made, static_cast<core::Outcome>(i % 11))));
            some_ = *made;
        }
        ASSERT_TRUE(searching_->commit());
    }
    std::int64_t unfiled() {
        return *database_.query_number("SELECT last_row-filed_up_to FROM counter");
    }

    std::string plan_of(const std::string& sql) {
        std::string plan;
        Statement row = database_.prepare("EXPLAIN QUERY PLAN " + sql);
        while (row.step()) plan += std::string(row.text(3)) + "\n";
        return plan;
    }
    void expect_search(const std::string& sql) {
        const std::string plan = plan_of(sql);
        SCOPED_TRACE(sql + "\n" + plan);
        EXPECT_THAT(plan, HasSubstr("SEARCH"));
        EXPECT_THAT(plan, Not(HasSubstr("SCAN")));
        EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE")));
    }
    std::string plan_of_list(const ListFilter& filter) {
        const Result<BuiltQuery> query = searching_->build_list({filter, 0, 10});
        EXPECT_TRUE(query);
        expect_search(query->sql);
        return plan_of(query->sql);
    }
    ListFilter filter_of(unsigned which) const {
        ListFilter filter;
        if (which & 1) filter.state = core::State::settled;
        if (which & 2) filter.outcome = core::Outcome::approved;
        if (which & 4) filter.session = some_->session;
        if (which & 8) filter.thread = "t1";
        if (which & 16) filter.task = "k1";
        if (which & 32) filter.user = "u1";
        if (which & 64) filter.agent = some_->agent;
        if (which & 128) filter.tool = some_->tool;
        if (which & 256) filter.risk = core::RiskLevel::high;
        if (which & 512) filter.kind = core::Kind::plan;
        if (which & 1024) filter.batch = BatchId::fresh(start);
        if (which & 2048) filter.since = start + 10;
        if (which & 4096) filter.until = start + 300;
        if (which & 8192) filter.agent_id = some_->agent_id;
        if (which & 16384) filter.is_released = false;
        return filter;
    }
    static constexpr int fields = 15;
    static constexpr std::int64_t unfiled_max = 200;

    Database database_;
    std::optional<SqliteTransaction> searching_;
    RequestPtr some_;
    std::vector<RequestPtr> waiting_;
};

TEST_F(SqlitePlans, EveryListWithOneFilterIsASearchInTheRightIndex) {
    const std::string drawer =
        "SEARCH f USING PRIMARY KEY (drawer=? AND value=? AND row>? AND row<?)";
    const std::string indexes[fields] = {"request_standing",
                                         "request_standing",
                                         drawer,
                                         drawer,
                                         drawer,
                                         drawer,
                                         drawer,
                                         drawer,
                                         "request_standing",
                                         "request_standing",
                                         "request_batch",
                                         "INTEGER PRIMARY KEY",
                                         "INTEGER PRIMARY KEY",
                                         drawer,
                                         "request_standing"};
    EXPECT_THAT(plan_of_list({}), HasSubstr("INTEGER PRIMARY KEY"));
    for (unsigned field = 0; field < fields; ++field) {
        SCOPED_TRACE("field " + std::to_string(field));
        const std::string plan = plan_of_list(filter_of(1u << field));
        EXPECT_THAT(plan, HasSubstr(indexes[field]));
        EXPECT_THAT(plan, HasSubstr("rowid<?")) << "pages by row, and what is not filed yet";
    }
}

TEST_F(SqlitePlans, WhatIsRolledBackIsNotFiled) {
    ASSERT_TRUE(searching_->begin());
    searching_->begin_job();
    for (int i = 400; i < 700; ++i) ASSERT_TRUE(searching_->apply(opened(i)));
    ASSERT_TRUE(searching_->rollback());
    EXPECT_EQ(unfiled(), 199);
    add(400, 550);
    EXPECT_EQ(unfiled(), 148);
    EXPECT_EQ(*database_.query_number("SELECT count(*) FROM filed WHERE drawer<3"), 402);
    EXPECT_EQ(*database_.query_number("SELECT count(*) FROM filed f JOIN request h USING(row)"
                                      " WHERE drawer<3 AND (drawer=1)=(h.state=0)"),
              402);
}

TEST_F(SqlitePlans, MuchIsFiledInParts) {
    file_beyond(1024);
    add(400, 1225);
    EXPECT_EQ(unfiled(), 1024);
    add(1225, 1226);
    EXPECT_EQ(unfiled(), 1025 - 512);
    EXPECT_EQ(*database_.query_number("SELECT count(*) FROM filed WHERE drawer<3"),
              1226 - unfiled());
}

TEST_F(SqlitePlans, ALowerLimitIsReachedAtOnce) {
    file_beyond(10'000);
    add(400, 2000);
    EXPECT_EQ(unfiled(), 1799);
    file_beyond(100);
    add(2000, 2001);
    EXPECT_EQ(unfiled(), 100);
    EXPECT_EQ(*database_.query_number("SELECT count(*) FROM filed WHERE drawer<3"), 1901);
}

TEST_F(SqlitePlans, AnEntryTooManyKeepsNoRequestFromEnding) {
    ListFilter filter;
    filter.state = core::State::pending;
    const RequestPtr waiting = searching_->list({filter, 202, 1})->requests.front();
    ASSERT_TRUE(
        database_.execute("INSERT INTO filed SELECT 2, value, row FROM filed"
                          " WHERE drawer=1 AND row=" +
                          std::to_string(waiting->row)));
    ASSERT_TRUE(searching_->begin());
    searching_->begin_job();
    EXPECT_TRUE(searching_->apply(settled(*waiting, core::Outcome::rejected)));
    ASSERT_TRUE(searching_->commit());
}

TEST_F(SqlitePlans, AnEntryThatWasLostIsPutBackWhenItsRequestEnds) {
    const RequestPtr waiting = [&] {
        ListFilter filter;
        filter.state = core::State::pending;
        return searching_->list({filter, 202, 1})->requests.front();
    }();
    ASSERT_TRUE(database_.execute("DELETE FROM filed WHERE drawer=1 AND row=" +
                                  std::to_string(waiting->row)));
    ASSERT_EQ(database_.changes(), 1);
    ASSERT_TRUE(searching_->begin());
    searching_->begin_job();
    ASSERT_TRUE(searching_->apply(settled(*waiting, core::Outcome::rejected)));
    ASSERT_TRUE(searching_->commit());
    ListFilter filter;
    filter.agent_id = waiting->agent_id;
    filter.state = core::State::settled;
    EXPECT_THAT(
        searching_->list({filter, waiting->row + 1, 1})->requests,
        testing::ElementsAre(testing::Pointee(testing::Field(&core::Request::row, waiting->row))));
}

TEST_F(SqlitePlans, WhatIsUnfiledIsReadOnlyWhereItBelongsToThePage) {
    ListQuery query{filter_of(4), 202, 10};
    EXPECT_THAT(searching_->build_list(query)->sql, Not(HasSubstr("UNION ALL")));
    query.before_row = 203;
    EXPECT_THAT(searching_->build_list(query)->sql, HasSubstr("UNION ALL"));
}

TEST_F(SqlitePlans, EveryListWithTwoFiltersIsASearch) {
    for (unsigned first = 0; first < fields; ++first)
        for (unsigned second = first + 1; second < fields; ++second)
            plan_of_list(filter_of(1u << first | 1u << second));
}

TEST_F(SqlitePlans, AnAgentsPendingRequestsNeedNoLookAtItsSettledOnes) {
    ListFilter filter;
    filter.state = core::State::pending;
    filter.agent_id = some_->agent_id;
    const std::string sql = searching_->build_list({filter, 0, 10})->sql;
    EXPECT_THAT(sql, HasSubstr("f.drawer=1 AND f.value="));
    EXPECT_THAT(sql, Not(HasSubstr("f.drawer=2")));
    plan_of_list(filter);
}

TEST_F(SqlitePlans, DeadlinesAndSingleRequestsAreSearches) {
    for (const std::string& sql : searching_->fixed_statements()) expect_search(sql);
}

TEST_F(SqlitePlans, WhatWaitsInASessionIsSearchedByTheWholeDrawer) {
    for (const bool is_by_agent : {true, false})
        EXPECT_THAT(plan_of(SqliteTransaction::waiting_statement(is_by_agent)),
                    HasSubstr("PRIMARY KEY (drawer=? AND value=?)"));
}

TEST_F(SqlitePlans, EventsAreReadFromWhereTheReaderStopped) {
    const Result<BuiltQuery> query =
        searching_->build_events({.after = 5}, filter_of(4 | 8192), 10);
    ASSERT_TRUE(query);
    expect_search(query->sql);
    EXPECT_THAT(plan_of(query->sql),
                HasSubstr("SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"));
}

/// Asks for what few requests have of somebody who has many.
class SqliteChoice : public SqlitePlans {
  protected:
    static constexpr std::int64_t skip_max = 100;

    void SetUp() override {
        SqlitePlans::SetUp();
        // Filed at once: only what is filed is counted.
        choosing_.emplace(database_, SqliteTransaction::Setup{.skip_max = skip_max});
        ASSERT_TRUE(choosing_->load_tally());
    }
    std::string chosen_for(const ListFilter& filter) {
        const Result<BuiltQuery> query = choosing_->build_list({filter, 0, 10});
        EXPECT_TRUE(query);
        for (const TextDrawer& each : text_drawers)
            if (query->sql.contains(fmt::format("f.drawer={} ", drawer_number(each.drawer))))
                return std::string(each.column);
        if (query->sql.contains("f.drawer=")) return "agent";
        const std::size_t at = query->sql.find("INDEXED BY ");
        return query->sql.substr(at + 11, query->sql.find(' ', at + 11) - at - 11);
    }
    /// One that many others of its agent stand around.
    void add_one(int i, const std::string& tool, const std::string& session) {
        ASSERT_TRUE(choosing_->begin());
        choosing_->begin_job();
        core::Step step = opened(i);
        step.request.tool = tool;
        step.request.session = session;
        ASSERT_TRUE(choosing_->apply(std::move(step)));
        ASSERT_TRUE(choosing_->commit());
    }

    std::optional<SqliteTransaction> choosing_;
};

TEST_F(SqliteChoice, AToolNobodyUsedIsNotLookedForAmongABusyAgentsRequests) {
    ListFilter filter;
    filter.agent_id = some_->agent_id;
    EXPECT_EQ(chosen_for(filter), "agent");
    filter.tool = "never_used";
    EXPECT_EQ(chosen_for(filter), "tool");
    filter.agent_id = std::nullopt;
    filter.agent = some_->agent;
    EXPECT_EQ(chosen_for(filter), "tool");
}

TEST_F(SqliteChoice, OfTwoFiltersTheOneWithFewerRequestsIsSearched) {
    for (int i = 0; i < 150; ++i) add_one(1000 + i, "common", "large");
    add_one(2000, "rare", "large");
    ListFilter filter;
    filter.session = "large";
    filter.tool = "rare";
    EXPECT_EQ(chosen_for(filter), "tool");
    EXPECT_EQ(choosing_->list({filter, 0, 10})->requests.size(), 1u);
    filter.tool = "common";
    EXPECT_EQ(chosen_for(filter), "session") << "neither is small: the more telling one";
    filter.session = "s1";
    EXPECT_EQ(chosen_for(filter), "session");
    filter.session = std::nullopt;
    filter.state = core::State::pending;
    filter.tool = "rare";
    EXPECT_EQ(chosen_for(filter), "tool");
}

// What is pending is known to be few, however many a tool has.
TEST_F(SqliteChoice, AKnownNumberIsBetterThanAnUnknownOne) {
    for (int i = 0; i < 150; ++i) add_one(1000 + i, "common", "s");
    ListFilter filter;
    filter.tool = "common";
    filter.outcome = core::Outcome::approved;
    EXPECT_EQ(chosen_for(filter), "request_standing");
    filter.outcome = std::nullopt;
    filter.state = core::State::pending;
    filter.tool = std::nullopt;
    filter.agent_id = some_->agent_id;
    EXPECT_EQ(chosen_for(filter), "agent") << "its drawers know what is pending";
}

// The choice of the index is for speed; it must never change what is found.
TEST_F(SqlitePlans, WhicheverIndexIsTakenTheListIsTheSame) {
    SqliteTransaction counting(database_, {.skip_max = 1'000'000, .unfiled_max = unfiled_max});
    ASSERT_TRUE(counting.load_tally());
    SqliteTransaction choosing(database_, {.skip_max = 80, .unfiled_max = unfiled_max});
    ASSERT_TRUE(choosing.load_tally());
    const auto rows = [](SqliteTransaction& tx, const ListFilter& filter) {
        std::vector<std::int64_t> found;
        const Result<ListPage> page = tx.list({filter, 0, 1000});
        EXPECT_TRUE(page);
        for (const RequestPtr& request : page->requests) found.push_back(request->row);
        return found;
    };
    std::mt19937 random(1);
    std::size_t found = 0;
    for (int i = 0; i < 2000; ++i) {
        // Every bit in one of four: mostly two to five filters.
        const unsigned which = static_cast<unsigned>(random() & random()) & ((1u << fields) - 1);
        const ListFilter filter = filter_of(which);
        const std::vector<std::int64_t> expected = rows(counting, filter);
        ASSERT_EQ(rows(*searching_, filter), expected) << which;
        ASSERT_EQ(rows(choosing, filter), expected) << which;
        found += expected.size();
    }
    EXPECT_GT(found, 1000u) << "the filters must not all be empty";
}

TEST_F(SqlitePlans, ManyAgentsOfOneNameAreMerged) {
    ASSERT_TRUE(searching_->begin());
    searching_->begin_job();
    for (int i = 0; i < 600; ++i) {
        core::Step step = opened(500 + i);
        step.request.agent_id = PrincipalId::fresh(start);
        step.request.agent = i < 150 ? "few" : "many";
        ASSERT_TRUE(searching_->apply(std::move(step)));
    }
    ListFilter filter;
    filter.agent = "few";
    EXPECT_EQ(searching_->list({filter, 0, 1000})->requests.size(), 150u);
    EXPECT_THAT(plan_of_list(filter), HasSubstr("MERGE"));
    filter.agent = "many";
    EXPECT_EQ(searching_->list({filter, 0, 1000})->requests.size(), 450u);
    ASSERT_TRUE(searching_->rollback());
}

// ---- damage

TEST_F(SqlitePlans, DamagedRowsAreInternalErrorsNotGuesses) {
    const std::string where = " WHERE row=" + std::to_string(some_->row);
    // A rollback makes the store forget what it remembers of recent requests.
    ASSERT_TRUE(searching_->begin());
    ASSERT_TRUE(searching_->rollback());
    for (const char* damage :
         {"UPDATE request SET kind=9", "UPDATE request SET state=0", "UPDATE request SET outcome=0",
          "UPDATE request SET outcome=99", "UPDATE request SET risk=-1",
          "UPDATE request SET requirement='{}'", "UPDATE request SET timing='x'",
          "UPDATE request SET decision='{\"kind\":\"approve\"}'", "UPDATE request SET vote_count=1",
          "UPDATE request SET requester=999", "UPDATE request SET timeout_taken=7",
          "UPDATE request SET batch=x'00'", "UPDATE body SET verdict='{}'", "DELETE FROM body"}) {
        SCOPED_TRACE(damage);
        ASSERT_TRUE(searching_->begin());
        ASSERT_TRUE(database_.execute(damage + where));
        searching_->begin_job();
        const Result<RequestPtr> loaded = searching_->load(some_->id);
        ASSERT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code, ErrorCode::internal);
        ASSERT_TRUE(searching_->rollback());
    }
    EXPECT_TRUE(searching_->load(some_->id));
}

}  // namespace
}  // namespace holdpoint::store::sqlite
