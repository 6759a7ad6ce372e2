#include "server/human_desk.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

namespace holdpoint::server {
namespace {

constexpr int tries_max = 5;  // answers that do not fit; then the request waits for its deadline
constexpr std::chrono::milliseconds look_again{500};

}  // namespace

HumanDesk::HumanDesk(std::shared_ptr<HumanInterface> human, WhenUnavailable when_unavailable,
                     Engine engine)
    : human_(std::move(human)),
      when_unavailable_(when_unavailable),
      engine_(std::move(engine)),
      thread_([this] { run(); }) {}

void HumanDesk::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
        asking_.request_stop();
        is_changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void HumanDesk::ask(const std::string& id) {
    const std::lock_guard lock(mutex_);
    if (!known_.insert(id).second) return;
    queue_.push_back(id);
    is_changed_.notify_all();
}

void HumanDesk::ask_again(const std::string& id) {
    const std::lock_guard lock(mutex_);
    if (!known_.contains(id) || current_ == id || std::ranges::find(queue_, id) != queue_.end())
        return;
    queue_.push_back(id);
    is_changed_.notify_all();
}

void HumanDesk::settled(const std::string& id) {
    const std::lock_guard lock(mutex_);
    known_.erase(id);
    if (current_ == id) asking_.request_stop();
}

void HumanDesk::notify(const Notification& notification) {
    try {
        human_->send_notification(notification);
    } catch (const std::exception& thrown) {
        spdlog::warn("a notification was not delivered: {}", thrown.what());
    }
}

void HumanDesk::run() {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        if (queue_.empty()) {
            is_changed_.wait(lock);
            continue;
        }
        current_ = queue_.front();
        queue_.pop_front();
        asking_ = std::stop_source();
        const std::string id = current_;
        const std::stop_token stop = asking_.get_token();
        lock.unlock();
        const After after = serve(id, stop);
        lock.lock();
        current_.clear();
        if (after == After::done) continue;
        queue_.push_back(id);
        is_changed_.wait_for(lock, look_again, [this] { return is_stopping_; });
    }
}

HumanDesk::After HumanDesk::nobody(const std::string& id, const std::string& why) {
    if (when_unavailable_ == WhenUnavailable::wait) return After::again_later;
    engine_.give_up(id, why);
    return After::done;
}

Result<std::optional<Decision>> HumanDesk::consult(const Request& request,
                                                   const std::stop_token& stop) {
    try {
        if (request.kind == Kind::input) return human_->request_input(request, stop);
        return human_->request_approval(request, stop);
    } catch (const std::exception& thrown) {
        return Error{ErrorCode::unavailable, thrown.what()};
    } catch (...) {
        return Error{ErrorCode::unavailable, "the interface failed"};
    }
}

HumanDesk::After HumanDesk::serve(const std::string& id, const std::stop_token& stop) {
    for (int tries = 0; tries < tries_max && !stop.stop_requested(); ++tries) {
        const Result<Request> request = engine_.read(id);
        if (!request || request->is_settled()) return After::done;
        bool is_available = false;
        try {
            is_available = human_->is_available();
        } catch (const std::exception& thrown) {
            spdlog::warn("whether somebody is there cannot be told: {}", thrown.what());
        }
        if (!is_available) return nobody(id, "nobody can be asked now");
        const Result<std::optional<Decision>> decision = consult(*request, stop);
        if (stop.stop_requested()) return After::done;
        if (!decision) {
            spdlog::warn("asking failed: {}", decision.error().message);
            return nobody(id, decision.error().message);
        }
        if (!*decision) return After::done;
        const Result<Request> decided = engine_.decide(*request, **decision);
        if (decided && decided->is_settled()) return After::done;
        if (!decided)
            notify({fmt::format("That was not taken: {}", decided.error().message),
                    RiskLevel::medium, id});
    }
    return After::done;
}

}  // namespace holdpoint::server
