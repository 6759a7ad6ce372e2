#include <cstdio>

#include "cli/app.h"
#include "cli/json_text.h"

namespace holdpoint::cli {

void add_version(Command app, Commands& commands) {
    on_run(app.add_subcommand("version", "Print the version"), commands, [](const Flags& flags) {
        const std::string line = flags.is_json
                                     ? compact(json::object{{"version", HOLDPOINT_VERSION}})
                                     : "holdpoint " HOLDPOINT_VERSION;
        std::puts(line.c_str());
        return ExitCode::fine;
    });
}

}  // namespace holdpoint::cli
