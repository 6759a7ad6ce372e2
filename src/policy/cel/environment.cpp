#include "policy/cel/environment.h"

#include "base/assert.h"
#include "policy/cel/library.h"

namespace holdpoint::cel {

Environment::Environment() = default;
Environment::~Environment() = default;
Environment::Environment(Environment&&) noexcept = default;
Environment& Environment::operator=(Environment&&) noexcept = default;

Slot Environment::declare_variable(std::string name, Type type) {
    const auto [found, is_new] = slots_.try_emplace(name, static_cast<Slot>(variables_.size()));
    if (!is_new) {
        variables_[found->second].type = std::move(type);
        return found->second;
    }
    variables_.push_back({std::move(name), std::move(type)});
    return found->second;
}

void Environment::declare_function(std::string_view name, Overload overload) {
    HOLDPOINT_ASSERT(!overload.is_method || !overload.parameters.empty());
    functions_[std::string(name)].push_back(std::make_shared<const Overload>(std::move(overload)));
}

const Environment::Variable* Environment::variable(std::string_view name, Slot* slot) const {
    const auto found = slots_.find(name);
    if (found == slots_.end()) return nullptr;
    if (slot) *slot = found->second;
    return &variables_[found->second];
}

std::vector<std::shared_ptr<const Overload>> Environment::overloads(std::string_view name) const {
    std::vector<std::shared_ptr<const Overload>> all;
    if (const auto own = functions_.find(name); own != functions_.end()) all = own->second;
    const auto& library = library_overloads(name);
    all.insert(all.end(), library.begin(), library.end());
    return all;
}

}  // namespace holdpoint::cel
