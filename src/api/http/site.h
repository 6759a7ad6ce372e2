#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/http/http.h"

namespace holdpoint::api {

/// One file of the web page, as its build made it; nothing is compressed while serving.
struct SiteFile {
    std::string_view path;  ///< such as `/assets/index-Cl3UKGpY.js`
    std::string_view type;
    std::string_view cache;  ///< Cache-Control
    std::string_view hash;   ///< of the content; the ETag is made from it and the form sent
    std::string_view plain;
    std::string_view brotli = {};  ///< empty where compressing does not pay
    std::string_view gzip = {};
};

/// A web page: files, and the addresses that all answer with its `/index.html`, where the script
/// of the page decides what to show. Lives as long as the process.
struct Site {
    std::span<const std::string_view> pages;  ///< with at most one `{id}`
    std::span<const std::pair<std::string_view, std::string_view>> headers;  ///< of every answer
    std::span<const SiteFile> files;
};

/// What a server without the web page shows in its place.
const Site& site_not_built();

/// The file at this path, or null.
const SiteFile* find_file(const Site& site, std::string_view path);

/// The answer to a GET of the file: in the smallest form that the caller accepts, or 304 if it has
/// that form already.
http::Response render_file(const Site& site, const SiteFile& file, const http::Request& request);

/// The answer to a person whose browser asked for a path where nothing is: the page, whose script
/// says so, with status 404. None for a program: who does not ask for HTML, or asks below the API's
/// own paths, gets an error like any other.
std::optional<http::Response> render_lost(const Site& site, const http::Request& request);

/// Whether an Accept-Encoding header (RFC 9110, 12.5.3) admits a coding.
bool accepts(std::string_view accept_encoding, std::string_view coding);

/// Whether an If-None-Match header names this ETag; weakly compared, as the RFC asks.
bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace holdpoint::api
