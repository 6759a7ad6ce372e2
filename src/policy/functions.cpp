#include "policy/functions.h"
namespace holdpoint::policy {
void declare_functions(cel::Environment& e) {
    e.declare_function("url.host", {{cel::Type::string()}, cel::Type::string(), false, [](cel::Call& c, std::span<const cel::Value> a) -> cel::Value {
        std::string_view t = a[0].as_text(); auto s = t.find("://"); if (s == t.npos) return c.fail(cel::Fault::invalid_argument, "no url");
        t.remove_prefix(s + 3); t = t.substr(0, t.find('/')); if (auto at = t.rfind('@'); at != t.npos) t.remove_prefix(at + 1);
        return cel::Value::string(t.substr(0, t.find(':'))); }, 1});
}
}
