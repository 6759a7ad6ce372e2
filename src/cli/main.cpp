#include "cli/app.h"

int main(int argc, char** argv) { return holdpoint::cli::run(argc, argv); }
