#include "api/http/site.h"

#include <algorithm>
#include <array>

#include "api/http/path_pattern.h"

namespace holdpoint::api {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Calls `use` with each part of a list; ends early when it returns true.
template <class Use>
bool any_part(std::string_view list, Use use) {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        const std::string_view part = trimmed(list.substr(0, comma));
        if (!part.empty() && use(part)) return true;
        if (comma == std::string_view::npos) break;
        list.remove_prefix(comma + 1);
    }
    return false;
}

/// `q=0`, `q=0.0` and so on: the one weight that matters here, because it forbids.
bool is_forbidden(std::string_view weight) {
    weight = trimmed(weight);
    if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return false;
    return weight.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

/// Whether an Accept header names HTML, as those of browsers do. What takes anything is a program.
bool asks_for_html(std::string_view accept) {
    return any_part(accept, [](std::string_view part) {
        const std::size_t semicolon = part.find(';');
        const bool is_html =
            http::equal_ignoring_case(trimmed(part.substr(0, semicolon)), "text/html");
        return is_html &&
               (semicolon == std::string_view::npos || !is_forbidden(part.substr(semicolon + 1)));
    });
}

constexpr std::array<std::string_view, 2> api_roots{"/v1", "/api"};

bool is_of_api(std::string_view path) {
    return std::any_of(api_roots.begin(), api_roots.end(), [path](std::string_view root) {
        return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
    });
}

struct Form {
    std::string_view body, coding;
};

/// The smallest form that the caller accepts.
Form form_for(const SiteFile& file, const http::Request& request) {
    const std::string_view accepted = request.header("accept-encoding");
    if (!file.brotli.empty() && accepts(accepted, "br")) return {file.brotli, "br"};
    if (!file.gzip.empty() && accepts(accepted, "gzip")) return {file.gzip, "gzip"};
    return {file.plain, {}};
}

constexpr std::array<std::string_view, 3> pages_without_site{"/", "/sign-in", "/r/{id}"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> headers_without_site{
    {{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
     {"Referrer-Policy", "no-referrer"}}};
constexpr std::array<SiteFile, 1> files_without_site{
    {{"/index.html", "text/plain; charset=utf-8", "no-store", "none",
      "This server was built without the web inbox. Decide with `holdpoint inbox`, or build it "
      "with "
      "`make build`.\n"}}};

}  // namespace

const Site& site_not_built() {
    static const Site site{pages_without_site, headers_without_site, files_without_site};
    return site;
}

const SiteFile* find_file(const Site& site, std::string_view path) {
    std::string id;
    const bool is_page = std::any_of(site.pages.begin(), site.pages.end(),
                                     [&](auto pattern) { return matches(path, pattern, id); });
    if (is_page) path = "/index.html";
    const auto found = std::find_if(site.files.begin(), site.files.end(),
                                    [path](const SiteFile& file) { return file.path == path; });
    return found == site.files.end() ? nullptr : &*found;
}

bool accepts(std::string_view accept_encoding, std::string_view coding) {
    bool is_named = false, is_accepted = false;
    any_part(accept_encoding, [&](std::string_view part) {
        const std::size_t semicolon = part.find(';');
        const std::string_view name = trimmed(part.substr(0, semicolon));
        const bool is_good =
            semicolon == std::string_view::npos || !is_forbidden(part.substr(semicolon + 1));
        if (http::equal_ignoring_case(name, coding)) {
            is_named = true;
            is_accepted = is_good;
        } else if (name == "*" && !is_named) {
            is_accepted = is_good;
        }
        return false;
    });
    return is_accepted;
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
    return any_part(if_none_match, [etag](std::string_view part) {
        if (part == "*") return true;
        if (part.starts_with("W/")) part.remove_prefix(2);
        return part == etag;
    });
}

http::Response render_file(const Site& site, const SiteFile& file, const http::Request& request) {
    const auto [body, coding] = form_for(file, request);
    // A strong ETag names bytes, so each form has its own.
    std::string etag = "\"";
    etag += file.hash;
    if (!coding.empty()) etag.append("-").append(coding);
    etag += '"';

    http::Response response;
    response.content_type = file.type;
    for (const auto& [name, value] : site.headers) response.headers.emplace_back(name, value);
    response.headers.emplace_back("Cache-Control", file.cache);
    response.headers.emplace_back("Vary", "Accept-Encoding");
    const bool is_known = names_etag(request.header("if-none-match"), etag);
    response.headers.emplace_back("ETag", std::move(etag));
    if (is_known) {
        response.status = 304;
        return response;
    }
    if (!coding.empty()) response.headers.emplace_back("Content-Encoding", coding);
    response.body = body;
    return response;
}

std::optional<http::Response> render_lost(const Site& site, const http::Request& request) {
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (!is_read || is_of_api(request.path) || !asks_for_html(request.header("accept")))
        return std::nullopt;
    const SiteFile* page = find_file(site, "/index.html");
    if (!page || !page->type.starts_with("text/html")) return std::nullopt;

    // Not kept by anybody, as the engine says of whatever does not say otherwise: a later version
    // may have a page there.
    http::Response response;
    response.status = 404;
    response.content_type = page->type;
    for (const auto& [name, value] : site.headers) response.headers.emplace_back(name, value);
    response.headers.emplace_back("Vary", "Accept, Accept-Encoding");
    const auto [body, coding] = form_for(*page, request);
    if (!coding.empty()) response.headers.emplace_back("Content-Encoding", coding);
    response.body = body;
    return response;
}

}  // namespace holdpoint::api
