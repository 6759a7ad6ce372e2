#pragma once

/// Error and ErrorCode: every way a call can fail.
#include "base/error.h"
