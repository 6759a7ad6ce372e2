#pragma once

/// Result<T>: a value or an Error, with the members of std::expected.
#include "base/result.h"
