#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/request.h"

/// The small structures of a request as compact JSON texts. Writing is total; reading fails with
/// internal when a text is not what writing makes: a requirement that cannot be read must not
/// turn into an easier one. Canonical JSON inside (`replacement`, `answer`, …) is kept as a
/// string, so that its very bytes come back.
namespace holdpoint::store::sqlite {

std::string encode(const core::Requirement& requirement);
std::string encode(const core::Timing& timing);
std::string encode(const core::Decision& decision);
std::string encode(const core::VerdictRecord& verdict);
std::string encode(const core::Report& report);
std::string encode(const std::vector<core::Held>& holds);
std::string encode(const std::vector<std::string>& names);

Result<void> decode(std::string_view text, core::Requirement& requirement);
Result<void> decode(std::string_view text, core::Timing& timing);
Result<void> decode(std::string_view text, core::Decision& decision);
Result<void> decode(std::string_view text, core::VerdictRecord& verdict);
Result<void> decode(std::string_view text, core::Report& report);
Result<void> decode(std::string_view text, std::vector<core::Held>& holds);
Result<void> decode(std::string_view text, std::vector<std::string>& names);

}  // namespace holdpoint::store::sqlite
