// Every route of the REST door with the real store behind it, in one thread. The first line of an
// input is who calls (a letter), a blank, and what is asked for, as on a request line; the rest is
// the body. `REQ` in the target stands for a request that waits. Whatever comes, there is one
// answer; a refusal is JSON that can be printed; nothing is an internal error; and no agent
// decides.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/auth/secrets.h"
#include "api/http/api.h"
#include "api/http/path_pattern.h"
#include "api/http/request_reader.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/text.h"
#include "policy/builtin.h"
#include "service/identity.h"
#include "store/sqlite/sqlite.h"

namespace {

using namespace holdpoint;
using api::Api;

constexpr Timestamp start{1'700'000'000'000};
/// What earlier inputs left behind is thrown away after so many: a finding can be repeated.
constexpr int calls_per_world = 400;

class DeafStream : public http::Stream {
  public:
    void send(std::string_view) override {}
    void close() override {}
    void on_close(std::move_only_function<void()> callback) override {
        on_close_ = std::move(callback);
    }
    std::size_t queued() const override { return 0; }

    void go_away() {
        if (auto callback = std::move(on_close_)) callback();
    }

  private:
    std::move_only_function<void()> on_close_;
};

/// What came of one call. Outlives its exchange.
struct Answered {
    std::optional<http::Response> response;
    std::shared_ptr<DeafStream> stream;
    std::move_only_function<void()> abandon;  ///< set where the call waits
    bool is_over() const { return response || stream; }
};

class RecordingExchange : public http::Exchange {
  public:
    explicit RecordingExchange(std::shared_ptr<Answered> answered)
        : answered_(std::move(answered)) {}
    void respond(http::Response response) override {
        if (is_open()) answered_->response = std::move(response);
    }
    std::shared_ptr<http::Stream> start_stream(http::Response) override {
        if (!is_open()) return std::make_shared<DeafStream>();
        return answered_->stream = std::make_shared<DeafStream>();
    }
    void trust() override {}
    void on_abandon(std::move_only_function<void()> callback) override {
        answered_->abandon = std::move(callback);
    }
    bool is_open() const override { return !answered_->is_over(); }

  private:
    std::shared_ptr<Answered> answered_;
};

/// A store in memory, the door, and a key of each kind.
class World {
  public:
    World() {
        store::sqlite::Options options;
        options.path = ":memory:";
        options.executor = [this](std::move_only_function<void()> function) {
            boost::asio::post(io_, std::move(function));
        };
        options.listener = [this](const std::vector<store::Change>& changes) {
            if (api_) api_->on_commit(changes);
        };
        store_ = std::move(*store::sqlite::open_sqlite(std::move(options)));
        const auto offload = [this](std::move_only_function<void()> work,
                                    std::move_only_function<void()> then) {
            work();
            boost::asio::post(io_, std::move(then));
        };
        api::ApiOptions api_options;
        api_options.base_url = "http://127.0.0.1:1";
        api_options.relying_party.id = "localhost";
        api_ = std::make_unique<Api>(*store_, clock_, policy_, offload, api_options);
        api_->set_ready(true);
        api_->set_push({std::string(65, '\4'), std::string(32, 'k')});
        agent_ = make_key(store::Role::agent, "bot");
        approver_ = make_key(store::Role::approver, "ann");
        auditor_ = make_key(store::Role::auditor, "audrey");
        admin_ = make_key(store::Role::admin, "root");
        propose();
    }

    ~World() {
        // The store answers through the loop, which ends with what is posted there.
        store_->stop();
        io_.poll();
        api_.reset();
    }

    std::string_view key_of(char who) const {
        switch (who) {
            case 'a':
                return agent_;
            case 'p':
                return approver_;
            case 'o':
                return auditor_;
            case 'r':
                return admin_;
            default:
                return {};
        }
    }
    const std::string& pending() const { return pending_; }

    std::shared_ptr<Answered> call(http::Request request) {
        auto answered = std::make_shared<Answered>();
        api_->handle(std::move(request), std::make_shared<RecordingExchange>(answered));
        // Who calls, what is asked for, and what follows from that are asked of the store in turn.
        for (int turn = 0; turn < 20 && !answered->is_over(); ++turn) settle();
        if (!answered->is_over() && answered->abandon) answered->abandon();
        if (answered->stream) answered->stream->go_away();
        settle();
        return answered;
    }

    /// What was decided is followed by another that waits.
    void propose_again_if_settled() {
        const auto now = call(*read("GET", "/v1/requests/" + pending_, 'a', {}));
        HOLDPOINT_ASSERT(now->response && now->response->status == 200);
        if (now->response->body.find("\"state\":\"settled\"") != std::string::npos) propose();
    }

    std::optional<http::Request> read(std::string_view method, std::string_view target, char who,
                                      std::string_view body) const {
        std::string text = std::string(method) + ' ' + std::string(target) +
                           " HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Type: application/json\r\n";
        if (const std::string_view key = key_of(who); !key.empty())
            text += "Authorization: Bearer " + std::string(key) + "\r\n";
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        text += body;
        http::RequestReader reader(http::ReaderLimits{});
        reader.put(text);
        if (reader.status() != http::RequestReader::Status::complete) return std::nullopt;
        return reader.take();
    }

  private:
    /// Runs the loop until the store has answered everything that was asked of it so far.
    void settle() {
        bool is_done = false;
        store_->run([](store::Transaction&) -> Result<void> { return {}; },
                    [&](const Result<void>&) { is_done = true; });
        while (!is_done) io_.run_one();
        io_.poll();
    }

    std::string make_key(store::Role role, const std::string& name) {
        const auth::Secret secret = auth::new_key(role);
        service::KeySpec spec;
        spec.role = role;
        spec.name = name;
        store::Key key;
        key.id = KeyId::fresh(start);
        key.hash = secret.hash;
        bool is_made = false;
        store_->run(
            [&](store::Transaction& tx) {
                return service::create_key(tx, spec, key, PrincipalId::fresh(start), start);
            },
            [&](const Result<service::IssuedKey>& issued) { is_made = issued.has_value(); });
        settle();
        HOLDPOINT_ASSERT(is_made);
        return secret.text;
    }

    void propose() {
        const auto made = call(*read(
            "POST", "/v1/requests", 'a',
            R"({"action":{"tool":"refund","arguments":{"amount":5,"note":"x"}},"session":"s"})"));
        HOLDPOINT_ASSERT(made->response && made->response->status == 201);
        const auto body = json::parse(made->response->body, {});
        pending_ = std::string(body->at("id").as_string());
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
        io_.get_executor()};
    ManualClock clock_{start};
    service::PolicyInForce policy_{policy::compose({})};
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<Api> api_;
    std::string agent_, approver_, auditor_, admin_, pending_;
};

/// A refusal reaches agents and terminals: it is JSON, it has a code and a message of which every
/// character can be printed, and it is not our own fault.
void check_refusal(const http::Response& response) {
    HOLDPOINT_ASSERT(response.status != 500);
    const auto body = json::parse(response.body, {.bytes_max = 64 << 20, .nodes_max = 1 << 20});
    HOLDPOINT_ASSERT(body.has_value());
    const json::value& error = body->at("error");
    HOLDPOINT_ASSERT(!error.at("code").as_string().empty());
    const auto& told = error.at("message").as_string();
    const std::string_view message(told.data(), told.size());
    HOLDPOINT_ASSERT(!message.empty() && message.size() < 4096);
    for (const char c : message)
        HOLDPOINT_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
}

bool is_decision(const http::Request& request) {
    for (const Api::Route& route : Api::routes()) {
        std::string id;
        if (route.is_decision && route.method == request.method &&
            api::matches(request.path, route.path, id))
            return true;
    }
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t line_end = input.find('\n');
    if (line_end == std::string_view::npos || line_end < 4) return -1;
    const std::string_view line = input.substr(2, line_end - 2);
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return -1;

    static std::unique_ptr<World> world;
    static int calls = 0;
    if (!world || ++calls % calls_per_world == 0) {
        world.reset();
        world = std::make_unique<World>();
    }
    std::string target(line.substr(blank + 1));
    if (const std::size_t at = target.find("REQ"); at != std::string::npos)
        target.replace(at, 3, world->pending());
    auto request = world->read(line.substr(0, blank), target, input[0], input.substr(line_end + 1));
    if (!request) return -1;
    const bool is_agent = input[0] == 'a';
    const bool may_not = is_agent && is_decision(*request);
    const bool is_head = request->method == "HEAD";

    const auto answered = world->call(std::move(*request));
    if (!answered->is_over()) HOLDPOINT_ASSERT(answered->abandon);
    if (answered->response) {
        const http::Response& response = *answered->response;
        HOLDPOINT_ASSERT(response.status >= 200 && response.status < 600);
        if (response.status >= 400 && !is_head) check_refusal(response);
        if (may_not) HOLDPOINT_ASSERT(response.status >= 400);
    }
    if (!is_agent) world->propose_again_if_settled();
    return 0;
}
