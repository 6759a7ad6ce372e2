#include "agent/feedback/avoid.h"

#include <fmt/format.h>

#include "agent/json_value.h"
#include "base/text.h"

namespace holdpoint::agent::feedback {
namespace {

constexpr std::size_t reason_bytes_max = 1000;

}  // namespace

void AvoidList::add(const Feedback& rejection) {
    if (rejection.kind != FeedbackKind::rejection || !rejection.lifted_by.empty()) return;
    Likeness likeness = likeness_of(rejection.tool, value_of(rejection.before), options_);
    std::vector<Entry>& alike = entries_[likeness.key];
    alike.push_back({std::move(likeness), rejection});
}

const Feedback* AvoidList::find(std::string_view tool, const Json& arguments) const {
    const Likeness likeness = likeness_of(tool, value_of(arguments), options_);
    const auto found = entries_.find(likeness.key);
    if (found == entries_.end()) return nullptr;
    const Feedback* newest = nullptr;
    for (const Entry& entry : found->second) {
        if (is_same(entry.likeness, likeness)) newest = &entry.rejection;
    }
    return newest;
}

std::vector<Feedback> AvoidList::find_all(std::string_view tool, const Json& arguments) const {
    const Likeness likeness = likeness_of(tool, value_of(arguments), options_);
    std::vector<Feedback> all;
    const auto found = entries_.find(likeness.key);
    if (found == entries_.end()) return all;
    for (const Entry& entry : found->second) {
        if (is_same(entry.likeness, likeness)) all.push_back(entry.rejection);
    }
    return all;
}

void AvoidList::remove(std::int64_t id) {
    for (auto& [key, alike] : entries_) {
        std::erase_if(alike, [&](const Entry& entry) { return entry.rejection.id == id; });
    }
}

std::string refusal_text(const Feedback& rejection) {
    const std::string who =
        rejection.by.empty() ? "A person" : visible(cut_utf8(rejection.by, 100));
    std::string text = fmt::format(
        "{} rejected the same `{}` call in this session, so nobody was asked again and it was not "
        "run.",
        who, visible(cut_utf8(rejection.tool, 100)));
    if (!rejection.text.empty()) {
        text += fmt::format(" The reason was: {}",
                            visible(cut_utf8(rejection.text, reason_bytes_max), Newlines::keep));
    }
    return text + "\nDo not repeat it in another form. Choose another way, or ask for guidance.";
}

}  // namespace holdpoint::agent::feedback
