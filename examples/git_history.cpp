// The session's git history tells what people decided and what was done: approvals and actions are
// commits, with trailers that name the request and the person.
#include <holdpoint/git.h>
#include <holdpoint/holdpoint.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace holdpoint;

namespace {

/// Prints what the command prints.
void show(const std::string& command) {
    std::FILE* output = ::popen(command.c_str(), "r");
    for (int c = 0; output && (c = std::fgetc(output)) != EOF;) std::cout << static_cast<char>(c);
    if (output) ::pclose(output);
}

}  // namespace

int main() {
    std::string folder = std::filesystem::temp_directory_path() / "holdpoint-example-XXXXXX";
    if (!::mkdtemp(folder.data())) return 1;
    if (std::system(("git init -q " + folder).c_str()) != 0) return 1;

    EmbeddedOptions options;
    options.human = make_callback({.approval = [](const Request& request, std::stop_token) {
        const bool is_draft = request.arguments()["path"].text_or("").ends_with(".draft");
        return std::optional(is_draft ? Decision{.kind = DecisionKind::reject,
                                                 .by = "ann",
                                                 .reason = "drafts stay at home"}
                                      : Decision{.kind = DecisionKind::approve, .by = "ann"});
    }});
    Result<Holdpoint> holdpoint = Holdpoint::embedded(options);
    if (!holdpoint) {
        std::cerr << holdpoint.error().message << "\n";
        return 1;
    }
    const auto history = std::make_shared<GitHistory>(
        GitOptions{.repository = folder, .name = "Agent", .email = "agent@example.org"});
    holdpoint->add(history);

    auto write_file = holdpoint->gate("write_file", {"path", "content"},
                                      [&](const std::string& path, const std::string& content) {
                                          std::ofstream(folder + "/" + path) << content;
                                      });
    for (const char* path : {"report.md", "ideas.draft"}) {
        const Run<Done> done = write_file(path, "Otters swim.\n");
        std::cout << path << ": " << (done ? "written" : to_string(done.error().why)) << "\n";
    }
    // The history follows what happens and never holds it up: here we wait until it is written.
    if (!history->flush()) std::cout << "the history is not complete\n";
    show("git -C " + folder + " log --reverse --format='%s%n  %(trailers:key=Approved-By)" +
         "%(trailers:key=Rejected-By)' | sed '/^ *$/d'");
    std::filesystem::remove_all(folder);
}
