// Events flow while a call is held: a front end listens, shows each question as it comes, and sends
// the person's click back. The agent knows nothing of it.
#include <holdpoint/holdpoint.h>

#include <iostream>
#include <thread>

using namespace holdpoint;

namespace {

/// The front end. What it prints is what a browser would show.
void show_events(Holdpoint holdpoint) {
    const Result<void> ended =
        holdpoint.events({.session = holdpoint.session(), .after = 0}, [&](const Event& event) {
            std::cout << "event " << event.name << ": " << event.request.headline << std::endl;
            if (event.name == "approval-required") {
                std::cout << "  [Approve] [Reject]   clicked: Approve" << std::endl;
                (void)holdpoint.decide(event.request.id,
                                       {.kind = DecisionKind::approve, .by = "ann"});
            }
            // What the tool gave is the last that happens to a call.
            return event.name != "tool-result";
        });
    if (!ended) std::cout << ended.error().message << "\n";
}

}  // namespace

int main() {
    EmbeddedOptions options;  // nobody is asked in this process: decisions come by the events
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    std::thread front_end(show_events, *holdpoint);

    auto publish = holdpoint->gate("cms_publishPost", {"slug"}, [](const std::string& slug) {
        return "\"" + slug + "\" is public now";
    });
    const Run<std::string> done = publish("spring-sale");
    front_end.join();
    std::cout << "agent: " << (done ? *done : done.error().message) << "\n";
}
