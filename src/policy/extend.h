#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "policy/file.h"

namespace holdpoint::policy {

/// The text of a built-in policy (`minimal`, `standard`, `strict`, `paranoid`); empty for others.
std::string_view preset_text(std::string_view name);

/// Gives the text of the parent that `extends` names, when it is no preset. Reading files is the
/// caller's business; it also decides which names may be read.
using ParentReader = std::function<Result<std::string>(const std::string& name)>;

/// Follows `extends` up to its end and merges: the child's word counts, what it does not say comes
/// from the parent. Tools, gates, groups, counters and vars are replaced by name, a rule by its id;
/// lists are joined, the child's first. Tests are the child's own. The version of the result is the
/// hash over all texts.
///
/// A parent of a higher layer is different: nothing of it can be replaced, the child may add denies
/// and requirements, and may allow only what the parent lists under `delegate` (`refused` else).
Result<PolicyFile> extend(PolicyFile child, const ParentReader& read_parent = {});

/// A policy's own text and those of what it extends as one: how its version is hashed and how it is
/// kept. No policy has the character between them.
std::string join_texts(const std::string& text, const std::vector<std::string>& above);
/// Takes them apart again: the own text first.
std::vector<std::string> split_texts(std::string_view joined);

/// Every name of a tool that stands in the file, wherever but under `trust`: what is named is
/// known. Globs only select among them.
std::vector<std::string> named_tools(const PolicyFile& file);

/// The tools that a lower layer's file would let pass: named by allow rules, never_require,
/// patterns and trust. `*` where a rule is for all.
std::vector<std::string> allowed_tools(const PolicyFile& file);

}  // namespace holdpoint::policy
