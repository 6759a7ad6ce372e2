#pragma once

#include "api/http/site.h"

namespace holdpoint::server {

/// The web inbox that was built into this binary; written by tools/embed_site.py. A program that is
/// linked without it (tests, and all with HOLDPOINT_WEB=OFF) has a sentence in its place.
const api::Site& embedded_site();

}  // namespace holdpoint::server
