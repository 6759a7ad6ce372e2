#include "api/http/compress.h"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <memory>
#include <random>

#include "api/http/request_reader.h"
#include "api/http/test_api.h"

namespace holdpoint::api {
namespace {

using namespace test;

std::string unzipped(std::string_view small, std::size_t size_max) {
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor{
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor};
    std::string out(size_max, '\0');
    std::size_t size = 0;
    EXPECT_EQ(libdeflate_gzip_decompress(decompressor.get(), small.data(), small.size(), out.data(),
                                         out.size(), &size),
              LIBDEFLATE_SUCCESS);
    out.resize(size);
    return out;
}

class CompressTest : public ApiTest {
  protected:
    CompressTest() {
        const std::string text(300, 'x');
        for (int i = 0; i < 20; ++i)
            propose(R"({"action":{"tool":"refund","arguments":{"note":")" + text + R"("}}})");
    }
    ClientResponse list(const std::string& target, Headers more) {
        return call(ann_, "GET", target, {}, std::move(more));
    }
};

TEST_F(CompressTest, W1_a_long_list_is_sent_as_gzip_to_whoever_takes_it) {
    const ClientResponse plain = list("/v1/requests?limit=20", {});
    ASSERT_EQ(plain.status, 200);
    EXPECT_FALSE(plain.has_header("Content-Encoding"));
    EXPECT_EQ(plain.header("Vary"), "Accept-Encoding");
    const ClientResponse zipped =
        list("/v1/requests?limit=20", {{"Accept-Encoding", "gzip, deflate, br"}});
    ASSERT_EQ(zipped.header("Content-Encoding"), "gzip");
    EXPECT_EQ(zipped.header("Vary"), "Accept-Encoding");
    EXPECT_EQ(zipped.header("Content-Type"), "application/json");
    EXPECT_LT(zipped.body.size() * 5, plain.body.size());
    EXPECT_EQ(unzipped(zipped.body, plain.body.size()), plain.body);
}

TEST_F(CompressTest, W1_whoever_forbids_gzip_gets_none) {
    const Headers forbidden{{"Accept-Encoding", "gzip;q=0, identity"}};
    const ClientResponse plain = list("/v1/requests?limit=20", forbidden);
    EXPECT_FALSE(plain.has_header("Content-Encoding"));
    EXPECT_EQ(plain.body.front(), '{');
}

TEST_F(CompressTest, W1_short_answers_and_errors_stay_as_they_are) {
    const Headers wanted{{"Accept-Encoding", "gzip"}};
    EXPECT_FALSE(list("/v1/requests?limit=1", wanted).has_header("Content-Encoding"));
    EXPECT_FALSE(list("/v1/me", wanted).has_header("Content-Encoding"));
    EXPECT_FALSE(list("/v1/requests?limit=x", wanted).has_header("Content-Encoding"));
}

TEST_F(CompressTest, W1_HEAD_tells_the_length_that_GET_would_have) {
    const Headers wanted{{"Accept-Encoding", "gzip"}};
    const ClientResponse whole = list("/v1/requests?limit=20", wanted);
    const ClientResponse head = call(ann_, "HEAD", "/v1/requests?limit=20", {}, wanted);
    EXPECT_EQ(head.header("Content-Encoding"), "gzip");
    EXPECT_EQ(head.header("Content-Length"), std::to_string(whole.body.size()));
    EXPECT_EQ(head.body, "");
}

TEST_F(CompressTest, W2_the_lists_of_older_clients_are_compressed_too) {
    const ClientResponse zipped = list("/api/approvals", {{"Accept-Encoding", "gzip"}});
    EXPECT_EQ(zipped.header("Content-Encoding"), "gzip");
}

TEST_F(CompressTest, X7_no_answer_to_a_POST_is_compressed_because_it_may_hold_a_new_secret) {
    std::string groups;
    for (int i = 0; i < 99; ++i) {
        const std::string number = std::to_string(100 + i);
        groups += (i > 0 ? R"(,")" : R"(")") + number + std::string(96, 'g') + '"';
    }
    const ClientResponse made =
        call(admin_, "POST", "/v1/keys",
             R"({"role":"approver","name":"many","groups":[)" + groups + "]}",
             {{"Accept-Encoding", "gzip"}});
    ASSERT_EQ(made.status, 201) << made.body;
    ASSERT_GT(made.body.size(), std::size_t{8} * 1024);
    EXPECT_FALSE(made.has_header("Content-Encoding"));
}

TEST(Compress, W1_a_body_that_does_not_shrink_is_sent_as_it_is) {
    http::RequestReader reader{http::ReaderLimits{}};
    reader.put("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
    const http::Request request = reader.take();
    const auto compressed = [&](std::string body) {
        http::Response response;
        response.body = std::move(body);
        compress_if_long(request, response);
        return response;
    };
    const Headers varies{{"Vary", "Accept-Encoding"}};
    std::mt19937 random(1);
    std::string noise(std::size_t{64} * 1024, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    const http::Response same = compressed(noise);
    EXPECT_EQ(same.headers, varies);
    EXPECT_EQ(same.body, noise);
    const http::Response packed = compressed(std::string(noise.size(), 'x'));
    EXPECT_EQ(packed.headers.back(), (Headers::value_type{"Content-Encoding", "gzip"}));
    EXPECT_LT(packed.body.size(), noise.size());
}

TEST(Compress, W1_a_body_that_would_keep_others_waiting_is_not_compressed) {
    http::Request request;
    request.method = "GET";
    http::Response response;
    response.body.assign(std::size_t{1024} * 1024 + 1, 'x');
    compress_if_long(request, response);
    EXPECT_TRUE(response.headers.empty());
    EXPECT_EQ(response.body.size(), std::size_t{1024} * 1024 + 1);
}

}  // namespace
}  // namespace holdpoint::api
