// An agent whose people sit elsewhere: they decide in the inbox, on the command line or over REST
// of a Holdpoint server. HOLDPOINT_URL and HOLDPOINT_TOKEN say which server, and who asks.
#include <holdpoint/holdpoint.h>

#include <cstdlib>
#include <iostream>

using namespace holdpoint;

int main() {
    const char* url = std::getenv("HOLDPOINT_URL");
    const char* key = std::getenv("HOLDPOINT_TOKEN");
    if (!url || !key) {
        std::cerr << "set HOLDPOINT_URL and HOLDPOINT_TOKEN\n";
        return 2;
    }
    Result<Holdpoint> holdpoint = Holdpoint::connect({.url = url, .key = key});
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }

    // Nobody waits for ever: after a minute the request is taken back.
    const Wait wait{.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1)};
    auto refund = holdpoint->gate("process_refund", {"orderId", "amount"},
                                  [](const std::string& order, double amount) {
                                      return "refunded " + Json(amount).dump() + " for " + order;
                                  });
    for (const double amount : {90, 500, 50000}) {
        const Run<std::string> done = refund("1234", amount, wait);
        std::cout << amount << ": "
                  << (done ? *done
                           : std::string(to_string(done.error().why)) + ", " + done.error().message)
                  << "\n";
    }

    // A server that is gone runs nothing either.
    Result<Holdpoint> nowhere =
        Holdpoint::connect({.url = "http://127.0.0.1:9",
                            .key = key,
                            .unreachable_after = std::chrono::milliseconds(200)});
    const Run<Release> release = nowhere->request({.tool = "process_refund"});
    std::cout << "without a server: " << to_string(release.error().why) << "\n";
}
