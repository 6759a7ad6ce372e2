#include "cli/inbox_model.h"

#include <gtest/gtest.h>

#include "cli/sse.h"

namespace holdpoint::cli {
namespace {

constexpr Timestamp noon{1'000'000'000};

Request request(std::string id, core::RiskLevel risk, std::int64_t left_ms) {
    Request r;
    r.id = std::move(id);
    r.risk = risk;
    r.expires_at = noon + left_ms;
    r.headline = "Run " + r.id;
    return r;
}

std::string order(const InboxModel& model) {
    std::string ids;
    for (const Request& row : model.rows()) ids += row.id;
    return ids;
}

TEST(Inbox, TheLastMinuteComesFirstThenRiskThenTimeLeft) {
    InboxModel model;
    model.replace(
        {request("a", core::RiskLevel::low, 600'000),
         request("b", core::RiskLevel::critical, 900'000),
         request("c", core::RiskLevel::low, 30'000), request("d", core::RiskLevel::low, 300'000),
         request("e", core::RiskLevel::high, 9'000'000)},
        noon);
    EXPECT_EQ(order(model), "cbeda");
}

TEST(Inbox, TheSelectionStaysOnItsRequestWhenAnotherArrivesAbove) {
    InboxModel model;
    model.replace({request("b", core::RiskLevel::low, 600'000)}, noon);
    ASSERT_EQ(model.selected()->id, "b");
    EXPECT_TRUE(model.update(request("a", core::RiskLevel::critical, 600'000), noon));
    EXPECT_EQ(order(model), "ab");
    EXPECT_EQ(model.selected()->id, "b");
}

TEST(Inbox, ASettledRequestLeavesAndTheNextOneIsSelected) {
    InboxModel model;
    model.replace(
        {request("a", core::RiskLevel::high, 600'000), request("b", core::RiskLevel::low, 600'000)},
        noon);
    Request gone = request("a", core::RiskLevel::high, 600'000);
    gone.state = core::State::settled;
    EXPECT_TRUE(model.update(gone, noon));
    EXPECT_EQ(model.selected()->id, "b");
    EXPECT_FALSE(model.update(gone, noon)) << "nothing changes the second time";
}

TEST(Inbox, TheFilterHidesRowsButKeepsThem) {
    InboxModel model;
    model.replace(
        {request("a", core::RiskLevel::high, 600'000), request("b", core::RiskLevel::low, 600'000)},
        noon);
    model.set_filter("HIGH");
    EXPECT_EQ(order(model), "a");
    EXPECT_EQ(model.total(), 2u);
    model.set_filter("nothing like it");
    EXPECT_EQ(model.selected(), nullptr);
    model.set_filter("");
    EXPECT_EQ(order(model), "ab");
}

TEST(Arming, OneHeldKeyDecidesOnce) {
    Arming arming;
    std::int64_t at = 10'000;
    arming.screen_changed(at);
    int decisions = 0;
    // A keyboard: the first press, half a second of nothing, then thirty repeats a second.
    at += 5'000;
    for (int press = 0; press < 200; ++press) {
        if (arming.press('a', at)) {
            ++decisions;
            arming.screen_changed(at);
        }
        at += press == 0 ? 660 : 33;
    }
    EXPECT_EQ(decisions, 1);
}

TEST(Arming, AKeyTooSoonAfterTheScreenChangedDoesNotCount) {
    Arming arming;
    arming.screen_changed(10'000);
    EXPECT_FALSE(arming.press('a', 10'399));
    EXPECT_FALSE(arming.press('r', 10'500)) << "another key in a hurry neither";
    EXPECT_TRUE(arming.press('r', 11'600));
}

TEST(Arming, ACalmSecondPressCounts) {
    Arming arming;
    EXPECT_TRUE(arming.press('a', 10'000));
    EXPECT_TRUE(arming.press('a', 11'000));
}

TEST(EventParser, FindsEventsHoweverTheBytesAreCut) {
    const std::string stream =
        "retry: 2000\n\n: heartbeat\r\n\r\nid: 7\nevent: request-settled\ndata: {\"a\":\ndata: "
        "1}\n\n"
        "data:x\r\r";
    for (std::size_t cut = 1; cut < stream.size(); ++cut) {
        std::vector<ServerEvent> events;
        EventParser parser([&](ServerEvent event) { events.push_back(std::move(event)); });
        EXPECT_TRUE(parser.feed(stream.substr(0, cut)));
        EXPECT_TRUE(parser.feed(stream.substr(cut)));
        ASSERT_EQ(events.size(), 2u) << cut;
        EXPECT_EQ(events[0].id, "7");
        EXPECT_EQ(events[0].name, "request-settled");
        EXPECT_EQ(events[0].data, "{\"a\":\n1}");
        EXPECT_EQ(events[1].id, "7") << "an id holds until the next one";
        EXPECT_EQ(events[1].name, "message");
        EXPECT_EQ(parser.retry_ms(), 2000);
    }
}

TEST(EventParser, AnEventWithoutEndIsCutOff) {
    EventParser parser([](const ServerEvent&) {});
    EXPECT_FALSE(parser.feed("data: " + std::string(EventParser::event_bytes_max + 1, 'x')));
}

}  // namespace
}  // namespace holdpoint::cli
