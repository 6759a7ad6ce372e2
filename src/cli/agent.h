#pragma once

#include "cli/app.h"

namespace holdpoint::cli {

/// `holdpoint agent`: an agent with tools of this machine, and the demo.
void add_agent(CLI::App& app, Commands& commands);

}  // namespace holdpoint::cli
