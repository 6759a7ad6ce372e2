#include "api/auth/address.h"

#include <gtest/gtest.h>

#include "api/http/request_reader.h"

namespace holdpoint::auth {
namespace {

http::Request forwarded(const std::string& headers) {
    http::RequestReader reader({});
    reader.put("GET / HTTP/1.1\r\nHost: holdpoint.test\r\n" + headers + "\r\n");
    EXPECT_EQ(reader.status(), http::RequestReader::Status::complete) << headers;
    http::Request request = reader.take();
    request.peer = "10.0.0.1";
    take_forwarded(request);
    return request;
}

TEST(Address, the_last_address_is_the_one_the_proxy_added) {
    EXPECT_EQ(forwarded("X-Forwarded-For: 203.0.113.9\r\n").peer, "203.0.113.9");
    EXPECT_EQ(forwarded("X-Forwarded-For: 198.51.100.1, 203.0.113.9\r\n").peer, "203.0.113.9");
    EXPECT_EQ(forwarded("X-Forwarded-For: 2001:db8::9\r\n").peer, "2001:db8::9");
    EXPECT_EQ(forwarded("").peer, "10.0.0.1");
}

TEST(Address, X4_a_caller_cannot_choose_its_address_by_sending_the_header_first) {
    const http::Request request = forwarded(
        "X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-Proto: https\r\n"
        "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\n");
    EXPECT_EQ(request.peer, "203.0.113.9");
    EXPECT_FALSE(request.is_tls);
}

TEST(Address, X4_a_port_does_not_make_another_address) {
    for (const char* value : {"203.0.113.9:1", "203.0.113.9:65535", "8.8.8.8, 203.0.113.9:443"})
        EXPECT_EQ(forwarded(std::string("X-Forwarded-For: ") + value + "\r\n").peer, "203.0.113.9")
            << value;
    for (const char* value :
         {"[2001:db8::9]", "[2001:db8::9]:443", "2001:DB8:0::9", "2001:db8:0:0:0:0:0:9"})
        EXPECT_EQ(forwarded(std::string("X-Forwarded-For: ") + value + "\r\n").peer, "2001:db8::9")
            << value;
}

TEST(Address, what_is_no_address_is_not_believed) {
    for (const char* value : {"unknown",
                              "a, b",
                              "1.2.3.4 5",
                              "1.2.3.4:",
                              "1.2.3.4:x",
                              "1.2.3.4:123456",
                              "1.2.3",
                              "1.2.3.400",
                              "[1.2.3.4]",
                              "[::1",
                              "[]:1",
                              "::1]",
                              "[::1]1",
                              "[::1]:",
                              "fe80::1%eth0",
                              ":80",
                              "a:b",
                              "abc.def",
                              "1.2.3.4, 5.6.7.8:9:10",
                              "\x9b"
                              "31m",
                              "1.2.3.4,",
                              "<U+202E>"})
        EXPECT_EQ(forwarded(std::string("X-Forwarded-For: ") + value + "\r\n").peer, "10.0.0.1")
            << value;
}

TEST(Address, X4_addresses_of_one_ipv6_network_count_as_one) {
    EXPECT_EQ(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:2:ffff::7"));
    EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
    EXPECT_EQ(network_of("203.0.113.9"), "203.0.113.9");
    EXPECT_NE(network_of("::ffff:203.0.113.9"), network_of("::ffff:203.0.113.8"));
    EXPECT_EQ(network_of("what:ever"), "what:ever");
}

}  // namespace
}  // namespace holdpoint::auth
