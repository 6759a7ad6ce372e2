#pragma once

#include <string>

#include "base/result.h"

namespace holdpoint::cli {

/// Lets the person edit `text` with $VISUAL or $EDITOR (else vi) and returns what was saved. The
/// file is readable by this person only and gone afterwards. Fails where the editor does.
Result<std::string> edit_text(const std::string& text, const std::string& suffix);

}  // namespace holdpoint::cli
