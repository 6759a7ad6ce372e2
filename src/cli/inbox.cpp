#include "cli/app.h"
namespace holdpoint::cli {
void add_inbox(CLI::App&, Commands&) {}
}  // namespace holdpoint::cli
