// The server on a file layer that forgets unsynced writes when the process dies, so that SIGKILL is
// what a power cut is. What the layer does is set by HOLDPOINT_TEST_FAULTS; without it, it is
// faithful.
#include "cli/app.h"
#include "tests/faults/fault_vfs.h"

int main(int argc, char** argv) {
    holdpoint::faults::install(true);
    return holdpoint::cli::run(argc, argv);
}
