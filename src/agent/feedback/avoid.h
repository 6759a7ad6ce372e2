#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <holdpoint/feedback.h>

#include "agent/feedback/sameness.h"

namespace holdpoint::agent::feedback {

/// The rejected actions of a session, found again in any trivial spelling. One thread at a time.
class AvoidList {
  public:
    explicit AvoidList(SamenessOptions options) : options_(std::move(options)) {}

    /// Remembers a rejection; anything else is ignored.
    void add(const Feedback& rejection);
    /// The newest rejection that is the same action, or nullptr. Valid until the list changes.
    const Feedback* find(std::string_view tool, const Json& arguments) const;
    /// All rejections of the same action, oldest first.
    std::vector<Feedback> find_all(std::string_view tool, const Json& arguments) const;
    void remove(std::int64_t id);

  private:
    struct Entry {
        Likeness likeness;
        Feedback rejection;
    };
    SamenessOptions options_;
    std::unordered_map<std::string, std::vector<Entry>> entries_;  // by the likeness' key
};

/// What the model reads instead of an answer: who refused the same before, when and why.
std::string refusal_text(const Feedback& rejection);

}  // namespace holdpoint::agent::feedback
