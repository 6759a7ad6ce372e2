// An application with a window of its own: the callback only shows the question, and the person's
// click comes later, on another thread.
#include <holdpoint/holdpoint.h>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

using namespace holdpoint;

namespace {

/// Stands for the application's list of open questions.
class Window {
  public:
    void show(const Request& request) {
        const std::lock_guard lock(mutex_);
        open_ = request;
        is_shown_.notify_all();
    }
    Request wait_for_click() {
        std::unique_lock lock(mutex_);
        is_shown_.wait(lock, [this] { return open_.has_value(); });
        return *open_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable is_shown_;
    std::optional<Request> open_;  // guarded by mutex_
};

}  // namespace

int main() {
    Window window;
    EmbeddedOptions options;
    options.human = make_callback(
        {.approval = [&](const Request& request, std::stop_token) -> std::optional<Decision> {
            window.show(request);
            return std::nullopt;  // not now: it stays pending
        }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    std::jthread person([&] {
        const Request shown = window.wait_for_click();
        std::cout << "window: " << shown.headline << " [Send] [Back]" << std::endl;
        (void)holdpoint->decide(shown.id, {.kind = DecisionKind::approve, .by = "ann"});
    });

    auto send = holdpoint->gate("send_email", {"to", "subject"},
                                [](const std::string& to, const std::string& subject) {
                                    return "sent \"" + subject + "\" to " + to;
                                });
    const Run<std::string> done = send("bob@example.org", "Lunch");
    std::cout << (done ? *done : done.error().message) << "\n";
}
