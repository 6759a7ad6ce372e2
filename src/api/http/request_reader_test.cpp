#include "api/http/request_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace holdpoint::http {
namespace {

using namespace std::string_literals;
using Status = RequestReader::Status;

struct Read {
    Status status = Status::need_more;
    ReadError error;
    Request request;
    std::size_t taken = 0;
    bool is_keep_alive = false;
};

Read read(std::string_view bytes, std::size_t step = std::string_view::npos,
          const ReaderLimits& limits = {}) {
    RequestReader reader(limits);
    Read result;
    while (result.taken < bytes.size() && reader.status() == Status::need_more) {
        result.taken += reader.put(bytes.substr(result.taken, step));
    }
    result.status = reader.status();
    result.error = reader.error();
    result.is_keep_alive = reader.is_keep_alive();
    if (result.status == Status::complete) result.request = reader.take();
    return result;
}

/// The status code of the refusal, the same whole and byte by byte; 0 if accepted or unfinished.
int refusal(std::string_view bytes, const ReaderLimits& limits = {}) {
    const Read whole = read(bytes, std::string_view::npos, limits);
    const Read split = read(bytes, 1, limits);
    EXPECT_EQ(whole.error.status, split.error.status) << bytes.substr(0, 200);
    EXPECT_EQ(whole.error.message, split.error.message) << bytes.substr(0, 200);
    return whole.status == Status::failed ? whole.error.status : 0;
}

std::string get_of(std::string_view target) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string with_header(std::string_view line) {
    return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n";
}

std::string chunked(std::string_view body) {
    return with_header("Transfer-Encoding: chunked") + std::string(body);
}

TEST(RequestReader, ReadsHeadAndBody) {
    const Read result = read(
        "POST /v1/things?wait=5&tag=a%20b&tag=c+d&flag HTTP/1.1\r\nHost: example.com:80\r\n"
        "X-Mixed:  spaced \t\r\nContent-Length: 5\r\n\r\nhelloGET");
    ASSERT_EQ(result.status, Status::complete);
    EXPECT_EQ(result.request.method, "POST");
    EXPECT_EQ(result.request.path, "/v1/things");
    const std::vector<std::pair<std::string, std::string>> query = {
        {"wait", "5"}, {"tag", "a b"}, {"tag", "c d"}, {"flag", ""}};
    EXPECT_EQ(result.request.query, query);
    EXPECT_EQ(result.request.header("x-mixed"), "spaced");
    EXPECT_EQ(result.request.header("absent"), "");
    EXPECT_FALSE(result.request.has_header("absent"));
    EXPECT_EQ(result.request.body, "hello");
    EXPECT_TRUE(result.is_keep_alive);
}

TEST(RequestReader, TakesNoByteOfTheNextRequest) {
    const std::string first = get_of("/a");
    EXPECT_EQ(read(first + get_of("/b")).taken, first.size());
    const std::string chunks = chunked("3\r\nabc\r\n0\r\n\r\n");
    EXPECT_EQ(read(chunks + get_of("/b")).taken, chunks.size());
}

TEST(RequestReader, GivesTheSameHoweverTheBytesAreSplit) {
    const std::string text =
        "POST /a%2Db?x=1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4;name=\"v\"\r\nWiki\r\n00005\r\npedia\r\n0\r\nTrailer: x\r\n\r\n";
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        RequestReader reader{ReaderLimits{}};
        ASSERT_EQ(reader.put(std::string_view(text).substr(0, cut)), cut);
        ASSERT_EQ(reader.status(), Status::need_more) << cut;
        reader.put(std::string_view(text).substr(cut));
        ASSERT_EQ(reader.status(), Status::complete) << cut;
        const Request request = reader.take();
        EXPECT_EQ(request.path, "/a-b");
        EXPECT_EQ(request.body, "Wikipedia");
        EXPECT_EQ(request.header("Host"), "a");
    }
}

TEST(RequestReader, ReadsOnAfterReset) {
    RequestReader reader{ReaderLimits{}};
    reader.put(chunked("1\r\nx\r\n0\r\n\r\n"));
    reader.reset();
    reader.put(get_of("/second"));
    ASSERT_EQ(reader.status(), Status::complete);
    const Request request = reader.take();
    EXPECT_EQ(request.path, "/second");
    EXPECT_EQ(request.body, "");
    EXPECT_FALSE(request.has_header("Transfer-Encoding"));
}

TEST(RequestReader, IgnoresTrailers) {
    const Read result = read(chunked("0\r\nAuthorization: sneaked\r\n\r\n"));
    ASSERT_EQ(result.status, Status::complete);
    EXPECT_FALSE(result.request.has_header("Authorization"));
}

TEST(RequestReader, ForgivesOneEmptyLineBeforeARequest) {
    EXPECT_EQ(read("\r\n" + get_of("/")).status, Status::complete);
    EXPECT_EQ(read("\r\n" + get_of("/"), 1).status, Status::complete);
    EXPECT_EQ(refusal("\r\n\r\n" + get_of("/")), 400);
}

TEST(RequestReader, RefusesWhatSmugglersUse) {
    EXPECT_EQ(refusal("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              400);
    EXPECT_EQ(refusal("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                      "Content-Length: 3\r\n\r\n0\r\n\r\n"),
              400);
    EXPECT_EQ(refusal(with_header("Content-Length: 1\r\nContent-Length: 2")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: 1\r\nContent-Length: 1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: 1, 1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: +1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: -1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: 0x1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: 1 1")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length:")), 400);
    EXPECT_EQ(refusal(with_header("Content-Length: 99999999999999999999")), 400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding: xchunked")), 400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding: gzip, chunked")), 400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding: chunked, identity")), 400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")),
              400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding : chunked")), 400);
    EXPECT_EQ(refusal(with_header("Transfer-Encoding: \x0b"
                                  "chunked")),
              400);
    EXPECT_EQ(refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesMalformedLines) {
    EXPECT_EQ(refusal("GET / HTTP/1.1\nHost: a\n\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n"s), 400);
    EXPECT_EQ(refusal("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET /\r\n\r\n"), 400);
    EXPECT_EQ(refusal("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(refusal("\x16\x03\x01\x02\n"), 400);
}

TEST(RequestReader, RefusesOtherVersions) {
    EXPECT_EQ(refusal("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505);
    EXPECT_EQ(refusal("GET / HTTP/3.7\r\nHost: a\r\n\r\n"), 505);
    EXPECT_EQ(refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
}

TEST(RequestReader, NeedsExactlyOneSoundHost) {
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: me@a\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"), 400);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").status, Status::complete);
    EXPECT_EQ(read("GET / HTTP/1.0\r\n\r\n").status, Status::complete);
}

TEST(RequestReader, RefusesPathsThatCouldBeReadTwoWays) {
    for (const char* target :
         {"ftp://a/", "http://",    "http:/a",  "http://a@b/", "http://a/../b", "http:///a",
          "a:443",    "*",          "/a/../b",  "/a/%2e%2e/b", "/./a",          "/..",
          "/a%00",    "/a%2fb",     "/a%2Fb",   "/a\\b",       "/a%5cb",        "/a%0a",
          "/a%7f",    "/a%",        "/a%4",     "/a%zz",       "/a#b",          "/%c0%af",
          "/%ff",     "/%ed%a0%80", "/\xc3\xa4"}) {
        EXPECT_EQ(refusal(get_of(target)), 400) << target;
    }
    EXPECT_EQ(refusal("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    EXPECT_EQ(read(get_of("/caf%C3%A9/...")).request.path, "/caf\xc3\xa9/...");
    EXPECT_EQ(read(get_of("/%252e%252e")).request.path, "/%2e%2e");
}

TEST(RequestReader, AQueryThatCannotBeReadIsTheDoorsToAnswer) {
    for (const char* query : {"a=%00", "a=%0d", "a=%g0", "a=%ff", "b=1&a=%"}) {
        const Read result = read(get_of("/x?" + std::string(query)));
        ASSERT_EQ(result.status, Status::complete) << query;
        EXPECT_FALSE(result.request.query_fault.message.empty()) << query;
        EXPECT_EQ(result.request.query_fault.name, "a") << query;
    }
    EXPECT_FALSE(read(get_of("/?%c0%af=1")).request.query_fault.message.empty());
    EXPECT_EQ(read(get_of("/?%c0%af=1")).request.query_fault.name, "");
    EXPECT_TRUE(read(get_of("/?a=%20&b")).request.query_fault.message.empty());
}

TEST(RequestReader, TheAbsoluteFormIsTakenAndItsHostCounts) {
    const auto at = [](const std::string& target) {
        return read("GET " + target + " HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n").request;
    };
    EXPECT_EQ(at("http://b.example:81/v1/me?x=1").path, "/v1/me");
    EXPECT_EQ(at("http://b.example:81/v1/me?x=1").header("Host"), "b.example:81");
    EXPECT_EQ(at("http://b.example:81/v1/me?x=1").query.size(), 1U);
    EXPECT_EQ(at("HTTPS://[::1]").path, "/");
    EXPECT_EQ(at("HTTPS://[::1]").header("Host"), "[::1]");
    EXPECT_EQ(at("http://b?q").path, "/");
    EXPECT_EQ(at("http://b?q").query.size(), 1U);
    EXPECT_EQ(at("http://b/").header("x"), "y");
    EXPECT_EQ(refusal("GET http://b/ HTTP/1.1\r\n\r\n"), 400) << "Host is needed all the same";
    EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").request.path, "*");
    EXPECT_EQ(read("OPTIONS http://b HTTP/1.1\r\nHost: a\r\n\r\n").request.path, "*");
}

TEST(RequestReader, KeepsWithinItsLimits) {
    ReaderLimits limits;
    limits.head_bytes_max = 1000;
    limits.target_bytes_max = 200;
    limits.headers_max = 3;
    limits.body_bytes_max = 10;
    const std::string long_text(1000, 'a');
    EXPECT_EQ(refusal(get_of("/" + std::string(199, 'a')), limits), 0);
    EXPECT_EQ(refusal(get_of("/" + std::string(200, 'a')), limits), 414);
    EXPECT_EQ(refusal(get_of("/" + long_text), limits), 414);
    EXPECT_EQ(refusal("GET /" + long_text, limits), 414);
    EXPECT_EQ(refusal(with_header("X: " + long_text), limits), 431);
    EXPECT_EQ(refusal(with_header("A: 1\r\nB: 2"), limits), 0);
    EXPECT_EQ(refusal(with_header("A: 1\r\nB: 2\r\nC: 3"), limits), 431);
    EXPECT_EQ(refusal(with_header("Content-Length: 10"), limits), 0);
    EXPECT_EQ(refusal(with_header("Content-Length: 11"), limits), 413);
    EXPECT_EQ(refusal(chunked("a\r\n0123456789\r\n0\r\n\r\n"), limits), 0);
    EXPECT_EQ(refusal(chunked("b\r\n"), limits), 413);
    EXPECT_EQ(refusal(chunked("a\r\n0123456789\r\n1\r\n"), limits), 413);
    EXPECT_EQ(refusal(chunked("0\r\nX: " + std::string(5000, 'a')), limits), 431);
    EXPECT_EQ(refusal(chunked("1;" + std::string(5000, 'a')), limits), 400);
}

TEST(RequestReader, AcceptsAHeadOfExactlyTheLimit) {
    ReaderLimits limits;
    const std::string text = get_of("/");
    limits.head_bytes_max = text.size();
    EXPECT_EQ(read(text, 1, limits).status, Status::complete);
    EXPECT_EQ(read(text, std::string_view::npos, limits).status, Status::complete);
    limits.head_bytes_max = text.size() - 1;
    EXPECT_EQ(refusal(text, limits), 431);
}

TEST(RequestReader, RefusesMalformedChunks) {
    for (const char* body : {"\r\n", "g\r\n", "-1\r\n", "1 \r\n", "0x1\r\n", "1\n", "1\r\nab\r\n",
                             "1\r\na\n", "1\r\na\rx", "123456789\r\n", "1;\x01\r\n", "0\r\nA\n",
                             "0\r\n\rx", "0\r\nA: \x01\r\n\r\n"}) {
        EXPECT_EQ(refusal(chunked(body)), 400) << body;
    }
}

TEST(RequestReader, RefusesCompressedBodies) {
    EXPECT_EQ(refusal(with_header("Content-Encoding: gzip")), 415);
    EXPECT_EQ(refusal(with_header("Content-Encoding: identity\r\nContent-Encoding: br")), 415);
    EXPECT_EQ(refusal(with_header("Content-Encoding: Identity")), 0);
}

TEST(RequestReader, TellsOnceThatTheClientWaitsToContinue) {
    RequestReader reader{ReaderLimits{}};
    reader.put(with_header("Expect: 100-continue\r\nContent-Length: 2"));
    EXPECT_TRUE(reader.is_head_done());
    EXPECT_TRUE(reader.take_expectation());
    EXPECT_FALSE(reader.take_expectation());
    reader.put("ok");
    EXPECT_EQ(reader.status(), Status::complete);
    EXPECT_EQ(refusal(with_header("Expect: tea")), 417);
}

TEST(RequestReader, KnowsWhichConnectionsStayOpen) {
    EXPECT_TRUE(read(get_of("/")).is_keep_alive);
    EXPECT_FALSE(read(with_header("Connection: close")).is_keep_alive);
    EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n").is_keep_alive);
    EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").is_keep_alive);
}

}  // namespace
}  // namespace holdpoint::http
