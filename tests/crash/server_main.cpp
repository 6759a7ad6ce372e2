// The server with a file layer that loses what was not synced, so that SIGKILL is a power cut.
#include "cli/app.h"
#include "tests/faults/fault_vfs.h"

int main(int argc, char** argv) {
    holdpoint::faults::install(true);
    return holdpoint::cli::run(argc, argv);
}
