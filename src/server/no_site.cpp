#include "server/embedded_site.h"

namespace holdpoint::server {

const api::Site& embedded_site() { return api::site_not_built(); }

}  // namespace holdpoint::server
