#include "cli/client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <system_error>

#include "agent/remote.h"
#include "base/ascii.h"
#include "base/assert.h"
#include "base/text.h"
#include "cli/json_text.h"
#include "cli/settings.h"

namespace holdpoint::cli {
namespace {

constexpr long connect_timeout_s = 5;
constexpr long answer_timeout_s = 20;

std::string hint_for(ErrorCode code, bool has_token) {
    if (code == ErrorCode::unauthenticated)
        return has_token ? "the key is unknown, expired or revoked; see `holdpoint doctor`"
                         : "set HOLDPOINT_TOKEN or HOLDPOINT_TOKEN_FILE; see `holdpoint doctor`";
    if (code == ErrorCode::permission_denied) return "see `holdpoint whoami`";
    return {};
}

std::string address(const Endpoint& endpoint, const Call& call) {
    std::string url = endpoint.url + call.path;
    char separator = '?';
    const auto add = [&](std::string_view name, std::string_view value) {
        url += separator;
        url += percent_encode(name) + "=" + percent_encode(value);
        separator = '&';
    };
    for (const auto& [name, value] : call.query) add(name, value);
    if (call.wait_s > 0) add("wait", std::to_string(call.wait_s));
    return url;
}

/// The path of the first text or key that is not UTF-8, in `value` itself or below it.
std::optional<std::string> first_not_utf8(const json::value& value, const std::string& path) {
    if (const boost::json::string* text = value.if_string())
        return is_utf8(*text) ? std::nullopt : std::optional(path);
    if (const json::array* list = value.if_array()) {
        for (std::size_t i = 0; i < list->size(); ++i)
            if (auto found = first_not_utf8((*list)[i], fmt::format("{}[{}]", path, i)))
                return found;
    } else if (const json::object* object = value.if_object()) {
        for (const auto& [key, member] : *object) {
            const std::string name =
                path.empty() ? visible(key) : fmt::format("{}.{}", path, visible(key));
            if (!is_utf8(key)) return name;
            if (auto found = first_not_utf8(member, name)) return found;
        }
    }
    return std::nullopt;
}

/// What would go out as something else than was given: JSON has no way to say such bytes, and two
/// names that differ in them would become one.
std::optional<Failure> not_text(const Call& call) {
    const auto fail = [](std::string field) {
        return Failure{Error{ErrorCode::invalid_argument, "is not UTF-8", std::move(field)}};
    };
    for (const auto& [name, value] : call.query)
        if (!is_utf8(value)) return fail(name);
    if (!call.body) return std::nullopt;
    std::optional<std::string> field = first_not_utf8(*call.body, "");
    return field ? std::optional(fail(std::move(*field))) : std::nullopt;
}

void append_header(curl_slist*& list, const std::string& line) {
    curl_slist* longer = curl_slist_append(list, line.c_str());
    HOLDPOINT_ASSERT(longer != nullptr);
    list = longer;
}

}  // namespace

std::string path_part(std::string_view text) { return percent_encode(text); }

struct Client::Transfer {
    TransferId id = 0;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string sent;
    std::string received;
    std::string date;
    std::string location;
    std::string retry_after;
    bool has_token = false;
    bool is_too_large = false;
    char error[CURL_ERROR_SIZE] = {};
    Done done;
    // Only for event streams. What arrives is kept until curl has returned: the handlers may start
    // transfers, which curl forbids from inside its own callbacks.
    std::optional<StreamHandlers> stream;
    std::unique_ptr<EventParser> parser;
    std::deque<ServerEvent> arrived;
    bool is_stream_open = false;
    bool is_open_told = false;

    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
        if (easy != nullptr) curl_easy_cleanup(easy);
        curl_slist_free_all(headers);
    }

    int status() const {
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        return static_cast<int>(status);
    }
    bool is_json() const {
        const char* type = nullptr;
        curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
        return type != nullptr && std::string_view(type).starts_with("application/json");
    }
    bool is_event_stream() const {
        const char* type = nullptr;
        curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
        return type != nullptr && std::string_view(type).starts_with("text/event-stream");
    }

    void take_header(std::string_view line) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) return;
        std::string name = ascii::lowered(line.substr(0, colon));
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
            value.remove_prefix(1);
        while (!value.empty() && (value.back() == '\r' || value.back() == '\n'))
            value.remove_suffix(1);
        if (name == "date") date = value;
        if (name == "location") location = value;
        if (name == "retry-after") retry_after = value;
    }

    std::size_t take_bytes(const char* bytes, std::size_t size) {
        if (stream && status() == 200 && is_event_stream()) {
            is_stream_open = true;
            return parser->feed({bytes, size}) ? size : 0;
        }
        if (received.size() + size > answer_limits.bytes_max) {
            is_too_large = true;
            return 0;
        }
        received.append(bytes, size);
        return size;
    }

    int retry_after_s() const {
        const bool is_number = !retry_after.empty() && retry_after.size() <= 6 &&
                               retry_after.find_first_not_of("0123456789") == std::string::npos;
        return is_number ? std::stoi(retry_after) : 0;
    }
    Failure failure_of_status() const;
    Answer<Reply> answer() const;
};

Failure Client::Transfer::failure_of_status() const {
    const int code = status();
    Failure failure{
        Error{agent::code_of_status(code), fmt::format("the server answered {}", code)}};
    failure.error.retry_after_s = retry_after_s();
    failure.hint = hint_for(failure.error.code, has_token);
    if (code >= 300 && code < 400) {
        failure.error.message = fmt::format("the server answered with a redirect to `{}`",
                                            visible(cut_utf8(location, 200)));
        failure.hint = "redirects are not followed; set the address it names with --url";
        return failure;
    }
    const Result<json::value> body = json::parse(received, answer_limits);
    if (!is_json() || !body || !body->is_object()) return failure;
    const json::value told = member(*body, "error");
    if (!told.is_object()) return failure;
    failure.error.message = text_of(told, "message", failure.error.message);
    failure.error.field = text_of(told, "field");
    failure.request = member(told, "request");
    failure.code = text_of(told, "confirm");
    return failure;
}

Answer<Reply> Client::Transfer::answer() const {
    const int code = status();
    if (code < 200 || code > 299) return std::unexpected(failure_of_status());
    Result<json::value> body = json::parse(received, answer_limits);
    if (!is_json() || !body) {
        Failure failure{
            Error{ErrorCode::internal, "the answer is not what a Holdpoint server says"},
            "is another program listening there? see `holdpoint doctor`"};
        if (is_json() && !body) failure.error.message += ": " + body.error().message;
        return std::unexpected(std::move(failure));
    }
    return Reply{code, std::move(*body), date};
}

struct Client::Multi {
    CURLM* handle = nullptr;
    std::map<TransferId, std::unique_ptr<Transfer>> transfers;
    std::vector<std::pair<Done, Failure>> refused;  // calls that never went out
    TransferId last_id = 0;
    bool is_delivering = false;

    Multi() {
        static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
        HOLDPOINT_ASSERT(started == CURLE_OK);
        handle = curl_multi_init();
        HOLDPOINT_ASSERT(handle != nullptr);
    }
    Multi(const Multi&) = delete;
    Multi& operator=(const Multi&) = delete;
    ~Multi() {
        for (auto& [id, transfer] : transfers) curl_multi_remove_handle(handle, transfer->easy);
        transfers.clear();
        curl_multi_cleanup(handle);
    }
};

Client::Client(Endpoint endpoint)
    : endpoint_(std::move(endpoint)), multi_(std::make_unique<Multi>()) {}

Client::~Client() = default;

std::optional<Failure> Client::refusal(const Call& call) const {
    if (std::optional<Failure> refused = not_text(call)) return refused;
    if (call.is_anonymous || endpoint_.token.empty() || endpoint_.may_use_http) return std::nullopt;
    if (endpoint_.url.starts_with("https://") || is_loopback(endpoint_.url)) return std::nullopt;
    return Failure{Error{ErrorCode::invalid_argument,
                         fmt::format("the key would go unencrypted to `{}`", endpoint_.url)},
                   "use https, or --allow-http where the network itself is trusted"};
}

Client::Transfer& Client::prepare(const Call& call) {
    auto owned = std::make_unique<Transfer>();
    Transfer& transfer = *owned;
    transfer.id = ++multi_->last_id;
    transfer.easy = curl_easy_init();
    HOLDPOINT_ASSERT(transfer.easy != nullptr);
    CURL* easy = transfer.easy;
    const auto set = [easy](auto option, auto value) { curl_easy_setopt(easy, option, value); };

    set(CURLOPT_URL, address(endpoint_, call).c_str());
    set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, connect_timeout_s);
    set(CURLOPT_USERAGENT, "holdpoint/" HOLDPOINT_VERSION);
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(transfer.error));
    if (!endpoint_.ca_file.empty()) set(CURLOPT_CAINFO, endpoint_.ca_file.c_str());
    // A proxy from the environment must not see what is meant for this machine only.
    if (is_loopback(endpoint_.url)) set(CURLOPT_PROXY, "");

    transfer.has_token = !call.is_anonymous && !endpoint_.token.empty();
    if (transfer.has_token)
        append_header(transfer.headers, "Authorization: Bearer " + endpoint_.token);
    if (!call.idempotency_key.empty())
        append_header(transfer.headers, "Idempotency-Key: " + call.idempotency_key);
    if (call.body) {
        transfer.sent = json::canonical(*call.body);
        append_header(transfer.headers, "Content-Type: application/json");
        set(CURLOPT_POSTFIELDS, transfer.sent.c_str());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.sent.size()));
    }
    // Waiting for `100 Continue` costs a second and gains nothing at these sizes.
    append_header(transfer.headers, "Expect:");

    set(
        CURLOPT_WRITEFUNCTION,
        +[](char* bytes, std::size_t, std::size_t count, void* self) -> std::size_t {
            return static_cast<Transfer*>(self)->take_bytes(bytes, count);
        });
    set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    set(
        CURLOPT_HEADERFUNCTION,
        +[](char* bytes, std::size_t, std::size_t count, void* self) -> std::size_t {
            static_cast<Transfer*>(self)->take_header({bytes, count});
            return count;
        });
    set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    multi_->transfers.emplace(transfer.id, std::move(owned));
    return transfer;
}

Client::TransferId Client::start(const Call& call, Done done) {
    if (std::optional<Failure> refused = refusal(call)) {
        multi_->refused.emplace_back(std::move(done), std::move(*refused));
        return 0;
    }
    Transfer& transfer = prepare(call);
    transfer.done = std::move(done);
    curl_easy_setopt(transfer.easy, CURLOPT_TIMEOUT, answer_timeout_s + call.wait_s);
    curl_easy_setopt(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers);
    curl_multi_add_handle(multi_->handle, transfer.easy);
    return transfer.id;
}

Client::TransferId Client::open_stream(const Query& query, const std::string& last_event_id,
                                       StreamHandlers handlers) {
    const Call call{.path = "/v1/events", .query = query};
    if (std::optional<Failure> refused = refusal(call)) {
        multi_->refused.emplace_back(
            [close = std::move(handlers.on_close)](Answer<Reply> a) { close(a.error(), 0); },
            std::move(*refused));
        return 0;
    }
    Transfer& transfer = prepare(call);
    append_header(transfer.headers, "Accept: text/event-stream");
    if (!last_event_id.empty()) append_header(transfer.headers, "Last-Event-ID: " + last_event_id);
    transfer.stream = std::move(handlers);
    transfer.parser = std::make_unique<EventParser>(
        [&transfer](ServerEvent event) { transfer.arrived.push_back(std::move(event)); });
    // Heartbeats come every 15 s: silence three times as long means that the line is dead.
    curl_easy_setopt(transfer.easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(transfer.easy, CURLOPT_LOW_SPEED_TIME, 45L);
    curl_easy_setopt(transfer.easy, CURLOPT_HTTPHEADER, transfer.headers);
    curl_multi_add_handle(multi_->handle, transfer.easy);
    return transfer.id;
}

void Client::stop(TransferId id) {
    const auto found = multi_->transfers.find(id);
    if (found == multi_->transfers.end()) return;
    curl_multi_remove_handle(multi_->handle, found->second->easy);
    multi_->transfers.erase(found);
}

bool Client::pump(int timeout_ms, int fd) {
    std::vector<std::pair<Done, Failure>> refused;
    refused.swap(multi_->refused);
    for (auto& [done, failure] : refused) done(std::unexpected(std::move(failure)));
    if (!refused.empty()) timeout_ms = 0;

    int running = 0;
    curl_multi_perform(multi_->handle, &running);
    int waiting_messages = 0;
    bool is_ready = false;
    std::vector<std::pair<TransferId, int>> finished;
    const auto collect = [&] {
        while (CURLMsg* message = curl_multi_info_read(multi_->handle, &waiting_messages)) {
            if (message->msg != CURLMSG_DONE) continue;
            for (const auto& [id, transfer] : multi_->transfers)
                if (transfer->easy == message->easy_handle)
                    finished.emplace_back(id, static_cast<int>(message->data.result));
        }
    };
    collect();
    if (finished.empty()) {
        curl_waitfd extra{fd, CURL_WAIT_POLLIN, 0};
        curl_multi_poll(multi_->handle, fd >= 0 ? &extra : nullptr, fd >= 0 ? 1 : 0, timeout_ms,
                        nullptr);
        is_ready = fd >= 0 && extra.revents != 0;
        curl_multi_perform(multi_->handle, &running);
        collect();
    }
    deliver_events();
    for (const auto& [id, code] : finished) finish(id, code);
    return is_ready;
}

void Client::deliver_events() {
    // A handler may call and so come back here; its own events must wait for their turn.
    if (multi_->is_delivering) return;
    multi_->is_delivering = true;
    std::vector<TransferId> streams;
    for (const auto& [id, transfer] : multi_->transfers)
        if (transfer->stream && transfer->is_stream_open) streams.push_back(id);
    for (const TransferId id : streams) deliver_events_of(id);
    multi_->is_delivering = false;
}

void Client::deliver_events_of(TransferId id) {
    // Looked up each time, since a handler may stop this very stream.
    const auto find = [this, id]() -> Transfer* {
        const auto found = multi_->transfers.find(id);
        return found != multi_->transfers.end() ? found->second.get() : nullptr;
    };
    Transfer* transfer = find();
    if (transfer == nullptr) return;
    const StreamHandlers handlers = *transfer->stream;
    if (!std::exchange(transfer->is_open_told, true)) handlers.on_open();
    while ((transfer = find()) != nullptr && !transfer->arrived.empty()) {
        ServerEvent event = std::move(transfer->arrived.front());
        transfer->arrived.pop_front();
        handlers.on_event(std::move(event));
    }
}

void Client::finish(TransferId id, int curl_code) {
    const auto found = multi_->transfers.find(id);
    if (found == multi_->transfers.end()) return;
    // Taken out first: what is called below may start or stop transfers.
    const std::unique_ptr<Transfer> transfer = std::move(found->second);
    multi_->transfers.erase(found);
    curl_multi_remove_handle(multi_->handle, transfer->easy);

    if (transfer->stream) {
        const int retry_ms = transfer->parser->retry_ms();
        const bool is_ended = curl_code == CURLE_OK || curl_code == CURLE_WRITE_ERROR;
        if (transfer->is_stream_open && is_ended)
            transfer->stream->on_close(
                Failure{Error{ErrorCode::unavailable, "the server ended the event stream"}},
                retry_ms);
        else if (curl_code == CURLE_OK)
            transfer->stream->on_close(transfer->failure_of_status(), retry_ms);
        else
            transfer->stream->on_close(unreachable(*transfer, curl_code), retry_ms);
        return;
    }
    if (transfer->is_too_large)
        transfer->done(std::unexpected(
            Failure{Error{ErrorCode::too_large, "the server's answer is too large"}}));
    else if (curl_code != CURLE_OK)
        transfer->done(std::unexpected(unreachable(*transfer, curl_code)));
    else
        transfer->done(transfer->answer());
}

Failure Client::unreachable(const Transfer& transfer, int curl_code) const {
    const auto code = static_cast<CURLcode>(curl_code);
    std::string why = transfer.error[0] != '\0' ? transfer.error : curl_easy_strerror(code);
    long os_error = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &os_error);
    if (code == CURLE_COULDNT_CONNECT && os_error != 0)
        why = std::generic_category().message(static_cast<int>(os_error));
    if (code == CURLE_OPERATION_TIMEDOUT) why = "no answer in time";
    Failure failure{
        Error{ErrorCode::unavailable,
              fmt::format("cannot reach {}: {}", endpoint_.url, visible(cut_utf8(why, 300)))},
        "is the server running? start it with `holdpoint serve`, or set the address with --url or "
        "HOLDPOINT_URL"};
    const bool is_tls = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
                        code == CURLE_SSL_CACERT_BADFILE;
    if (is_tls) failure.hint = "check the certificate; a private authority is named with --ca-file";
    return failure;
}

Answer<Reply> Client::call(const Call& call, int interrupt_fd) {
    std::optional<Answer<Reply>> got;
    const TransferId id = start(call, [&got](Answer<Reply> answer) { got = std::move(answer); });
    while (!got) {
        if (!pump(1000, interrupt_fd) || got) continue;
        stop(id);
        Failure failure{Error{ErrorCode::unavailable, "interrupted"}};
        failure.is_interrupted = true;
        return std::unexpected(std::move(failure));
    }
    return std::move(*got);
}

}  // namespace holdpoint::cli
