#include "policy/match/url.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdpoint::policy::match {
namespace {

std::string host(std::string_view text) {
    const Result<std::string> result = url_host(text);
    return result ? *result : "refused";
}

TEST(Urls, the_host_is_where_a_client_would_connect) {
    const struct {
        const char* title;
        const char* url;
        const char* host;
    } cases[] = {
        {"plain", "https://example.com/x", "example.com"},
        {"capitals", "HTTPS://EXAMPLE.com", "example.com"},
        {"trailing dot", "https://example.com./x", "example.com"},
        {"port", "https://example.com:8443/x", "example.com"},
        {"empty port", "https://example.com:/x", "example.com"},
        {"user", "https://hooks.example.com@evil.example/x", "evil.example"},
        {"user and password", "https://a:b@evil.example", "evil.example"},
        {"host in the query", "https://evil.example?example.com", "evil.example"},
        {"host in the fragment", "https://evil.example#@example.com", "evil.example"},
        {"backslash in the query only", "https://example.com/?a=\\b", "example.com"},
        {"punycode", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"},
        {"underscore", "https://a_b.example.com/", "a_b.example.com"},
        {"IPv4", "http://10.1.2.3/", "10.1.2.3"},
        {"IPv4 as one number", "http://2130706433/", "127.0.0.1"},
        {"IPv4 in hexadecimal", "http://0x7f000001/", "127.0.0.1"},
        {"IPv4 with hexadecimal parts", "http://0x7F.0x0.0.1/", "127.0.0.1"},
        {"IPv4 cut short", "http://127.1/", "127.0.0.1"},
        {"IPv4 of three parts", "http://10.1.515/", "10.1.2.3"},
        {"IPv4 with a trailing dot", "http://127.0.0.1./", "127.0.0.1"},
        {"IPv6", "http://[::1]:80/", "::1"},
        {"IPv6 in long form", "http://[2001:DB8:0:0:0:0:0:1]/", "2001:db8::1"},
        {"IPv4 inside IPv6", "http://[::ffff:10.0.0.1]/", "10.0.0.1"},
        {"IPv4 inside IPv6 in hexadecimal", "http://[::ffff:a00:1]/", "10.0.0.1"},
        {"another scheme", "postgres://db.example/x", "db.example"},
    };
    for (const auto& c : cases) EXPECT_EQ(host(c.url), c.host) << c.title;
}

TEST(Urls, what_clients_read_differently_is_refused) {
    const struct {
        const char* title;
        std::string url;
    } cases[] = {
        {"empty", ""},
        {"no scheme", "example.com/x"},
        {"scheme relative", "//example.com/x"},
        {"odd scheme", "ht tp://example.com"},
        {"one slash", "http:/example.com"},
        {"no slash", "http:example.com"},
        {"three slashes", "http:///example.com"},
        {"backslashes", "http:\\\\example.com"},
        {"backslash before the host", "https://evil.example\\@example.com/"},
        {"backslash in the path", "https://example.com\\.evil.example"},
        {"tab", "https://exam\tple.com"},
        {"newline", "https://example.com\n"},
        {"leading blank", " https://example.com"},
        {"blank in the host", "https://example.com evil.example"},
        {"zero byte", std::string("https://example.com\0.evil", 25)},
        {"zero width", "https://exam\u200bple.com"},
        {"two at signs", "https://a@example.com@evil.example"},
        {"no host", "https://"},
        {"no host but a port", "https://:443/"},
        {"no host but a user", "https://user@/"},
        {"encoded host", "https://ex%61mple.com"},
        {"Unicode host", "https://b\u00fccher.example"},
        {"Cyrillic look-alike", "https://ex\u0430mple.com"},
        {"full-width host", "https://\uff45xample.com"},
        {"ideographic dot", "https://example\u3002com"},
        {"punycode of ASCII", "https://xn--example-.com"},
        {"empty punycode", "https://xn--.com"},
        {"empty label", "https://example..com"},
        {"two trailing dots", "https://example.com.."},
        {"dot alone", "https://."},
        {"leading dash", "https://-oProxyCommand=x/"},
        {"label with a leading dash", "https://a.-b.com/"},
        {"odd character", "https://exam!ple.com"},
        {"semicolon", "https://example.com;evil.example"},
        {"octal", "http://0177.0.0.1/"},
        {"leading zeros", "http://010.0.0.1/"},
        {"too many numbers", "http://1.2.3.4.5/"},
        {"number too large", "http://256.0.0.1/"},
        {"number far too large", "http://99999999999999999999/"},
        {"name that ends in a number", "http://example.1/"},
        {"hexadecimal without digits", "http://0x/"},
        {"broken IPv6", "http://[::1/"},
        {"IPv6 that is none", "http://[::g]/"},
        {"IPv6 with a zone", "http://[fe80::1%25eth0]/"},
        {"IPv6 with something behind", "http://[::1]evil/"},
        {"port too large", "http://example.com:65536/"},
        {"port that is none", "http://example.com:80a/"},
        {"signed port", "http://example.com:+80/"},
        {"two ports", "http://example.com:80:90/"},
        {"too long", "https://example.com/" + std::string(9000, 'a')},
        {"host too long", "https://" + std::string(64, 'a') + ".com"},
    };
    for (const auto& c : cases) EXPECT_EQ(host(c.url), "refused") << c.title;
}

// Found by fuzzing: what does not show takes eight bytes a piece in a message.
TEST(Urls, a_refusal_is_short_whatever_was_given) {
    const auto url = parse_url("a.example" + std::string(500, '\0'));
    ASSERT_FALSE(url);
    EXPECT_LT(url.error().message.size(), 256u);
    EXPECT_THAT(url.error().message, testing::HasSubstr("<U+0000>"));
}

TEST(Urls, the_other_parts) {
    EXPECT_EQ(*url_scheme("HtTpS://a.example"), "https");
    EXPECT_EQ(*url_scheme("javascript:alert(1)"), "javascript");
    EXPECT_FALSE(url_host("javascript:alert(1)"));
    EXPECT_FALSE(url_host("mailto:a@b.example"));
    EXPECT_FALSE(url_host("file:///etc/passwd"));
    EXPECT_EQ(*url_port("http://a.example"), 80);
    EXPECT_EQ(*url_port("https://a.example"), 443);
    EXPECT_EQ(*url_port("https://a.example:8443"), 8443);
    EXPECT_FALSE(url_port("x://a.example"));
    EXPECT_TRUE(parse_url("https://u@a.example")->has_user);
}

TEST(Urls, the_path_is_resolved_or_refused) {
    const struct {
        const char* url;
        const char* path;
    } cases[] = {
        {"https://a.example", "/"},
        {"https://a.example/", "/"},
        {"https://a.example/x/y", "/x/y"},
        {"https://a.example/x/", "/x/"},
        {"https://a.example/x/../y", "/y"},
        {"https://a.example/x/..", "/"},
        {"https://a.example/./x/.", "/x/"},
        {"https://a.example/../../x", "/x"},
        {"https://a.example/x//y", "/x//y"},
        {"https://a.example/x?../y", "/x"},
        {"https://a.example/x%20y", "/x%20y"},
        {"https://a.example/%2e%2e/admin", "refused"},
        {"https://a.example/public/..%2Fadmin", "refused"},
        {"https://a.example/a%5cb", "refused"},
        {"https://a.example/a%00", "refused"},
        {"https://a.example/a%252e", "refused"},
    };
    for (const auto& c : cases) {
        const Result<std::string> path = url_path(c.url);
        EXPECT_EQ(path ? *path : "refused", c.path) << c.url;
    }
}

bool matches(std::string_view pattern, std::string_view url) {
    const Result<HostPattern> compiled = HostPattern::compile(pattern);
    if (!compiled) throw std::runtime_error(compiled.error().message);
    const Result<Url> parsed = parse_url(url);
    return parsed && compiled->matches(*parsed);
}

TEST(HostPatterns, keep_to_labels) {
    EXPECT_TRUE(matches("example.com", "https://EXAMPLE.com./"));
    EXPECT_FALSE(matches("example.com", "https://a.example.com/"));
    EXPECT_FALSE(matches("example.com", "https://notexample.com/"));
    EXPECT_TRUE(matches("*.example.com", "https://a.example.com/"));
    EXPECT_TRUE(matches("*.Example.COM", "https://a.b.example.com/"));
    EXPECT_FALSE(matches("*.example.com", "https://example.com/"));
    EXPECT_FALSE(matches("*.example.com", "https://evilexample.com/"));
    EXPECT_FALSE(matches("*.example.com", "https://a.example.com.evil.example/"));
    EXPECT_FALSE(matches("*.example.com", "https://a.example.com@evil.example/"));
    EXPECT_TRUE(matches("127.0.0.1", "http://0x7f.1/"));
    EXPECT_TRUE(matches("::1", "http://[0:0:0:0:0:0:0:1]/"));
    EXPECT_TRUE(matches("[::1]", "http://[::1]/"));
    EXPECT_FALSE(matches("localhost", "http://127.0.0.1/"));
}

TEST(HostPatterns, that_mean_nothing_or_everything_are_refused) {
    for (const char* pattern :
         {"", "*", "*.", "*.com", "a.*.com", "*example.com", "https://example.com", "example.com/x",
          "example.com:443", "b\u00fccher.example", "*.10.0.0.1", "a b.com", "*.*.example.com"}) {
        EXPECT_FALSE(HostPattern::compile(pattern)) << pattern;
    }
}

}  // namespace
}  // namespace holdpoint::policy::match
