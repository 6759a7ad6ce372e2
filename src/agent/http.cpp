#include "agent/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/assert.h"
#include "base/text.h"

namespace holdpoint::agent {
namespace {

using Time = std::chrono::steady_clock;

constexpr std::size_t answer_bytes_max = std::size_t{64} << 20;
constexpr long connect_timeout_ms = 5000;
/// A stream that says nothing for so long is dead: heartbeats come every 15 s.
constexpr long silence_s_max = 60;

struct Transfer {
    HttpCall call;
    HttpEngine::Done done;
    Time::time_point start_at;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    HttpReply reply;
    bool is_too_large = false;
    bool is_ended = false;  // by on_bytes
    std::string failure;    // of on_bytes
    char error[CURL_ERROR_SIZE] = {};

    Transfer() = default;
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;
    ~Transfer() {
        if (easy) curl_easy_cleanup(easy);
        curl_slist_free_all(headers);
    }

    std::size_t take(std::string_view bytes) {
        long status = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (call.on_bytes && status >= 200 && status <= 299) {
            try {
                if (call.on_bytes(bytes)) return bytes.size();
                is_ended = true;
            } catch (const std::exception& thrown) {
                // C code above knows no exceptions.
                failure = thrown.what();
            } catch (...) {
                failure = "an unknown failure";
            }
            return 0;
        }
        is_too_large = reply.body.size() + bytes.size() > answer_bytes_max;
        if (is_too_large) return 0;
        reply.body.append(bytes);
        return bytes.size();
    }
};

void prepare(Transfer& transfer) {
    transfer.easy = curl_easy_init();
    HOLDPOINT_ASSERT(transfer.easy != nullptr);
    const auto set = [&](auto option, auto value) {
        curl_easy_setopt(transfer.easy, option, value);
    };
    const HttpCall& call = transfer.call;
    set(CURLOPT_URL, call.url.c_str());
    set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    set(CURLOPT_USERAGENT, "holdpoint/" HOLDPOINT_VERSION);
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(transfer.error));
    if (!call.ca_file.empty()) set(CURLOPT_CAINFO, call.ca_file.c_str());
    // A proxy from the environment must not see what is meant for this machine only.
    if (is_loopback_url(call.url)) set(CURLOPT_PROXY, "");
    if (call.timeout.count() > 0) {
        set(CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
    } else {
        set(CURLOPT_LOW_SPEED_LIMIT, 1L);
        set(CURLOPT_LOW_SPEED_TIME, silence_s_max);
    }
    for (const std::string& header : call.headers)
        transfer.headers = curl_slist_append(transfer.headers, header.c_str());
    if (call.method != "GET") {
        set(CURLOPT_POSTFIELDS, call.body.c_str());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    }
    // Waiting for `100 Continue` costs a second and gains nothing at these sizes.
    transfer.headers = curl_slist_append(transfer.headers, "Expect:");
    set(CURLOPT_HTTPHEADER, transfer.headers);
    set(
        CURLOPT_WRITEFUNCTION,
        +[](char* bytes, std::size_t, std::size_t count, void* self) -> std::size_t {
            return static_cast<Transfer*>(self)->take({bytes, count});
        });
    set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
}

Result<HttpReply> outcome_of(Transfer& transfer, CURLcode code) {
    if (!transfer.failure.empty())
        return Error{ErrorCode::internal, "whoever reads the answer failed: " + transfer.failure};
    if (transfer.is_too_large) return Error{ErrorCode::too_large, "the answer is too long"};
    if (code != CURLE_OK && !transfer.is_ended)
        return Error{ErrorCode::unavailable,
                     fmt::format("no answer from `{}`: {}",
                                 transfer.call.url.substr(0, transfer.call.url.find('?')),
                                 transfer.error[0] ? static_cast<const char*>(transfer.error)
                                                   : curl_easy_strerror(code))};
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    transfer.reply.status = static_cast<int>(status);
    const char* type = nullptr;
    curl_easy_getinfo(transfer.easy, CURLINFO_CONTENT_TYPE, &type);
    if (type) transfer.reply.content_type = type;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &retry_after);
    transfer.reply.retry_after_s = static_cast<int>(std::min<curl_off_t>(retry_after, 86'400));
    return std::move(transfer.reply);
}

}  // namespace

struct HttpEngine::Parts {
    CURLM* multi = nullptr;
    std::mutex mutex;
    std::map<CallId, std::unique_ptr<Transfer>> queued;   // guarded by mutex
    std::vector<CallId> cancelled;                        // guarded by mutex
    CallId last_id = 0;                                   // guarded by mutex
    bool is_stopping = false;                             // guarded by mutex
    std::map<CallId, std::unique_ptr<Transfer>> running;  // engine's thread only
    std::thread thread;

    void run();
    void start_due(int& sleep_ms);
    void end_cancelled();
    void collect();
    void end(CallId id, Result<HttpReply> reply);
};

void HttpEngine::Parts::start_due(int& sleep_ms) {
    const Time::time_point now = Time::now();
    std::vector<std::pair<CallId, std::unique_ptr<Transfer>>> due;
    {
        const std::lock_guard lock(mutex);
        for (auto it = queued.begin(); it != queued.end();) {
            if (it->second->start_at <= now) {
                due.emplace_back(it->first, std::move(it->second));
                it = queued.erase(it);
                continue;
            }
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(it->second->start_at - now);
            sleep_ms = std::min(sleep_ms, static_cast<int>(left.count()) + 1);
            ++it;
        }
    }
    for (auto& [id, transfer] : due) {
        prepare(*transfer);
        curl_multi_add_handle(multi, transfer->easy);
        running.emplace(id, std::move(transfer));
    }
}

void HttpEngine::Parts::end(CallId id, Result<HttpReply> reply) {
    const auto found = running.find(id);
    if (found == running.end()) return;
    const std::unique_ptr<Transfer> transfer = std::move(found->second);
    running.erase(found);
    if (transfer->easy) curl_multi_remove_handle(multi, transfer->easy);
    transfer->done(std::move(reply));
}

void HttpEngine::Parts::end_cancelled() {
    std::vector<CallId> ids;
    {
        const std::lock_guard lock(mutex);
        ids.swap(cancelled);
        for (const CallId id : ids)
            if (const auto found = queued.find(id); found != queued.end()) {
                running.emplace(id, std::move(found->second));
                queued.erase(found);
            }
    }
    for (const CallId id : ids) end(id, Error{ErrorCode::unavailable, "stopped"});
}

void HttpEngine::Parts::collect() {
    int waiting = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &waiting)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        CURL* easy = message->easy_handle;
        for (const auto& [id, transfer] : running) {
            if (transfer->easy != easy) continue;
            end(id, outcome_of(*transfer, code));
            break;
        }
    }
}

void HttpEngine::Parts::run() {
    for (;;) {
        {
            const std::lock_guard lock(mutex);
            if (is_stopping) break;
        }
        int sleep_ms = 1000;
        start_due(sleep_ms);
        end_cancelled();
        int active = 0;
        curl_multi_perform(multi, &active);
        collect();
        curl_multi_poll(multi, nullptr, 0, sleep_ms, nullptr);
    }
    {
        const std::lock_guard lock(mutex);
        running.merge(queued);
    }
    while (!running.empty())
        end(running.begin()->first, Error{ErrorCode::unavailable, "the client was closed"});
}

HttpEngine::HttpEngine() : parts_(std::make_unique<Parts>()) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    HOLDPOINT_ASSERT(started == CURLE_OK);
    parts_->multi = curl_multi_init();
    HOLDPOINT_ASSERT(parts_->multi != nullptr);
    parts_->thread = std::thread([parts = parts_.get()] { parts->run(); });
}

HttpEngine::~HttpEngine() {
    {
        const std::lock_guard lock(parts_->mutex);
        parts_->is_stopping = true;
    }
    curl_multi_wakeup(parts_->multi);
    parts_->thread.join();
    curl_multi_cleanup(parts_->multi);
}

HttpEngine::CallId HttpEngine::start(HttpCall call, Done done) {
    auto transfer = std::make_unique<Transfer>();
    transfer->start_at = Time::now() + call.delay;
    transfer->call = std::move(call);
    transfer->done = std::move(done);
    CallId id = 0;
    {
        const std::lock_guard lock(parts_->mutex);
        id = ++parts_->last_id;
        parts_->queued.emplace(id, std::move(transfer));
    }
    curl_multi_wakeup(parts_->multi);
    return id;
}

void HttpEngine::cancel(CallId id) {
    {
        const std::lock_guard lock(parts_->mutex);
        parts_->cancelled.push_back(id);
    }
    curl_multi_wakeup(parts_->multi);
}

Result<HttpReply> HttpEngine::call(HttpCall call, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable is_done;
    std::optional<Result<HttpReply>> reply;
    const CallId id = start(std::move(call), [&](Result<HttpReply> given) {
        const std::lock_guard lock(mutex);
        reply.emplace(std::move(given));
        is_done.notify_all();
    });
    const std::stop_callback on_stop(stop, [&] { cancel(id); });
    std::unique_lock lock(mutex);
    is_done.wait(lock, [&] { return reply.has_value(); });
    return std::move(*reply);
}

bool is_loopback_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return false;
    std::string_view host = url.substr(scheme + 3);
    host = host.substr(0, host.find_first_of("/?#"));
    if (const std::size_t at = host.rfind('@'); at != std::string_view::npos)
        host = host.substr(at + 1);
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1) == "[::1]";
    host = host.substr(0, host.rfind(':'));
    if (host == "localhost") return true;
    // 127.0.0.0/8, but not `127.0.0.1.example.org`.
    return host.starts_with("127.") &&
           host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace holdpoint::agent
