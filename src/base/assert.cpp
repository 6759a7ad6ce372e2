#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace holdpoint {

void assertion_failed(const char* what, const char* file, int line) {
    std::fprintf(stderr, "holdpoint: broken invariant: %s (%s:%d)\n", what, file, line);
    std::abort();
}

}  // namespace holdpoint
