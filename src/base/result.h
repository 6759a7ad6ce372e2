#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace holdpoint {

/// A value or an Error. Has the members of std::expected; an Error converts implicitly, so that
/// `return request.error();` and `return Error{...};` read plainly.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
    using Base = std::expected<T, Error>;

  public:
    using Base::Base;
    Result(Error error) : Base(std::unexpect, std::move(error)) {}
};

}  // namespace holdpoint
