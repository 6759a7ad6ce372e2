#pragma once

#include <map>
#include <string>
#include <vector>

#include "policy/cel/type.h"

namespace holdpoint::cel {

/// What type parameters stand for while one expression is checked. `dyn` fits everything, so the
/// same parameter may meet several types that fit each other; it then stands for the most general.
class Inference {
  public:
    /// Parameters of a signature under names of their own for this use.
    std::vector<Type> freshen(const std::vector<Type>& types);
    Type fresh();

    /// Whether a value of type `from` may stand where `to` is wanted. Binds parameters on success
    /// only.
    bool assign(const Type& from, const Type& to);
    bool assign_all(const std::vector<Type>& from, const std::vector<Type>& to);

    /// One type for both: the more general if one fits the other, else `dyn`.
    Type join(const Type& a, const Type& b);

    /// With parameters replaced by what they stand for; those still open stay.
    Type resolve(const Type& type) const;
    /// The same, and open parameters become `dyn`.
    Type settle(const Type& type) const;

  private:
    using Bindings = std::map<std::string, Type>;

    bool assign_within(const Type& from, const Type& to);
    bool bind(const Type& parameter, const Type& type);
    bool occurs(const Type& parameter, const Type& type) const;
    const Type& follow(const Type& type) const;
    Type replace(const Type& type, bool opens_to_dynamic) const;

    Bindings bindings_;
    int fresh_count_ = 0;
};

}  // namespace holdpoint::cel
