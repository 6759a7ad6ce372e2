#include "api/http/site.h"

#include <gtest/gtest.h>

#include <array>

#include "api/http/request_reader.h"

namespace holdpoint::api {
namespace {

constexpr std::array<std::string_view, 3> pages{"/", "/history", "/r/{id}"};
constexpr std::array<SiteFile, 2> files{
    {{"/index.html", "text/html", "no-cache", "aa", "<p>page</p>"},
     {"/assets/a.js", "text/javascript", "immutable", "bb", "script", "br", "gz"}}};
const Site site{pages, {}, files};

TEST(Site, every_page_is_the_same_file) {
    for (const char* path : {"/", "/history", "/r/req_1", "/index.html"})
        EXPECT_EQ(find_file(site, path), &files[0]) << path;
    EXPECT_EQ(find_file(site, "/assets/a.js"), &files[1]);
}

TEST(Site, what_is_not_listed_is_not_there) {
    for (const char* path : {"", "/r/", "/r/a/b", "/history/", "/History", "/assets/",
                             "/assets/b.js", "/assets/a.js.br", "//", "/index.htm"})
        EXPECT_EQ(find_file(site, path), nullptr) << path;
}

TEST(Site, a_coding_is_accepted_only_when_the_caller_says_so) {
    EXPECT_TRUE(accepts("gzip, deflate, br, zstd", "br"));
    EXPECT_TRUE(accepts("BR;q=0.5", "br"));
    EXPECT_TRUE(accepts("gzip;q=1.0, *;q=0.1", "br"));
    EXPECT_FALSE(accepts("", "br"));
    EXPECT_FALSE(accepts("gzip", "br"));
    EXPECT_FALSE(accepts("brotli, xbr", "br"));
    EXPECT_FALSE(accepts("br;q=0", "br"));
    EXPECT_FALSE(accepts("br ; q=0.000", "br"));
    EXPECT_FALSE(accepts("*;q=0", "br"));
    EXPECT_FALSE(accepts("br;q=0, *", "br")) << "its own word counts more than the star";
    EXPECT_FALSE(accepts("*, br;q=0", "br"));
}

TEST(Site, an_etag_is_found_in_any_list) {
    EXPECT_TRUE(names_etag("\"aa\"", "\"aa\""));
    EXPECT_TRUE(names_etag("\"x\", W/\"aa\" , \"y\"", "\"aa\""));
    EXPECT_TRUE(names_etag("*", "\"aa\""));
    EXPECT_FALSE(names_etag("", "\"aa\""));
    EXPECT_FALSE(names_etag("\"aa-br\"", "\"aa\"")) << "another form of the same file";
    EXPECT_FALSE(names_etag("aa", "\"aa\""));
}

TEST(Site, without_the_inbox_a_sentence_says_so) {
    for (const char* path : {"/", "/sign-in", "/r/req_1"}) {
        const SiteFile* file = find_file(site_not_built(), path);
        ASSERT_NE(file, nullptr) << path;
        EXPECT_NE(file->plain.find("built without the web inbox"), std::string_view::npos);
    }
    EXPECT_EQ(find_file(site_not_built(), "/history"), nullptr);
}

TEST(Site, without_the_inbox_nobody_gets_its_page_at_a_wrong_address) {
    http::RequestReader reader{http::ReaderLimits{}};
    reader.put("GET /nonsense HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
    const http::Request request = reader.take();
    EXPECT_TRUE(render_lost(site, request));
    EXPECT_FALSE(render_lost(site_not_built(), request)) << "it is a sentence about another thing";
}

}  // namespace
}  // namespace holdpoint::api
