#include "base/id.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace holdpoint {
namespace {

constexpr Timestamp epoch{1'800'000'000'000};

TEST(Id, ascends_within_one_millisecond) {
    RequestId before = RequestId::fresh(epoch);
    for (int i = 0; i < 10'000; ++i) {
        const RequestId id = RequestId::fresh(epoch);
        ASSERT_GT(id, before);
        ASSERT_GT(id.text(), before.text()) << "text must sort like the id";
        before = id;
    }
}

TEST(Id, ascends_even_when_time_goes_back) {
    const RequestId later = RequestId::fresh(epoch + 5000);
    const RequestId earlier_clock = RequestId::fresh(epoch + 1000);
    EXPECT_GT(earlier_clock, later);
}

TEST(Id, ids_drawn_by_several_threads_differ) {
    std::vector<std::vector<RequestId>> drawn(3);
    std::vector<std::thread> threads;
    for (auto& mine : drawn)
        threads.emplace_back([&mine] {
            for (int i = 0; i < 2000; ++i) mine.push_back(RequestId::fresh(epoch));
        });
    for (std::thread& thread : threads) thread.join();
    std::set<RequestId> all;
    for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
    EXPECT_EQ(all.size(), 6000u);
}

TEST(Id, text_round_trips) {
    for (int i = 0; i < 100; ++i) {
        const RequestId id = RequestId::fresh(epoch + i);
        EXPECT_EQ(id.text().size(), 4u + 26u);
        EXPECT_EQ(RequestId::parse(id.text()), id);
    }
    Ulid highest;
    highest.bytes.fill(0xFF);
    EXPECT_EQ(KeyId{highest}.text(), "key_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    EXPECT_EQ(KeyId::parse("key_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), KeyId{highest});
    EXPECT_EQ(PrincipalId{}.text(), "prn_00000000000000000000000000");
}

TEST(Id, carries_the_time_of_its_creation_in_front) {
    const std::string a = BatchId::fresh(epoch + 100'000).text();
    const std::string b = BatchId::fresh(epoch + 200'000).text();
    EXPECT_LT(a.substr(0, 14), b.substr(0, 14));
}

TEST(Id, parse_refuses_foreign_prefixes) {
    const std::string ulid = RequestId::fresh(epoch).text().substr(4);
    EXPECT_TRUE(RequestId::parse("req_" + ulid));
    for (const std::string prefix : {"bat_", "prn_", "key_", "REQ_", "req-", "req", "_", ""})
        EXPECT_FALSE(RequestId::parse(prefix + ulid)) << prefix;
    EXPECT_FALSE(BatchId::parse("req_" + ulid));
}

TEST(Id, parse_refuses_bad_text) {
    const std::string good = RequestId::fresh(epoch).text();
    std::vector<std::string> bad{
        "",
        "req_",
        good + "0",
        good.substr(0, good.size() - 1),
        " " + good,
        good + " ",
        "req_80000000000000000000000000",  // 129 bits
        "req_ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
    };
    for (const char c : {'I', 'L', 'O', 'U', 'i', 'l', 'o', 'u', '-', '%', '/', '\0', '\x80'}) {
        std::string broken = good;
        broken[10] = c;
        bad.push_back(broken);
    }
    for (const std::string& text : bad) EXPECT_FALSE(RequestId::parse(text)) << text;
}

TEST(Id, small_letters_read_as_capitals) {
    const RequestId id = RequestId::fresh(epoch);
    std::string text = id.text();
    for (std::size_t i = 4; i < text.size(); ++i)
        if (text[i] >= 'A') text[i] = static_cast<char>(text[i] - 'A' + 'a');
    EXPECT_EQ(RequestId::parse(text), id);
}

TEST(Id, hashes_of_neighbours_differ) {
    std::set<std::size_t> hashes;
    for (int i = 0; i < 1000; ++i) hashes.insert(RequestId::Hash{}(RequestId::fresh(epoch)));
    EXPECT_EQ(hashes.size(), 1000u);
}

}  // namespace
}  // namespace holdpoint
