#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/cel/environment.h"

/// The functions every environment has. Operators are listed for the checker; the evaluator does
/// them itself.
namespace holdpoint::cel {

/// Empty if the library has no such function. The table is built on first use and never changes.
const std::vector<std::shared_ptr<const Overload>>& library_overloads(std::string_view name);

/// Filled by one function per part of the library.
class Library {
  public:
    using Function = Value (*)(Call&, std::span<const Value>);

    struct Cost {
        std::uint32_t steps = 1;
        bool is_linear = false;
    };

    void function(std::string_view name, std::vector<Type> parameters, Type result,
                  Function implementation, Cost cost);
    void function(std::string_view name, std::vector<Type> parameters, Type result,
                  Function implementation) {
        function(name, std::move(parameters), std::move(result), implementation, Cost{});
    }
    /// The first parameter is the receiver.
    void method(std::string_view name, std::vector<Type> parameters, Type result,
                Function implementation, Cost cost);
    void method(std::string_view name, std::vector<Type> parameters, Type result,
                Function implementation) {
        method(name, std::move(parameters), std::move(result), implementation, Cost{});
    }
    void variadic(std::string_view name, std::vector<Type> parameters, Type result,
                  Function implementation);
    void op(std::string_view name, std::vector<Type> parameters, Type result) {
        function(name, std::move(parameters), std::move(result), nullptr);
    }

    const std::vector<std::shared_ptr<const Overload>>& find(std::string_view name) const;

  private:
    void add(std::string_view name, Overload overload);

    std::map<std::string, std::vector<std::shared_ptr<const Overload>>, std::less<>> overloads_;
};

void add_operators(Library& library);
void add_conversions(Library& library);
void add_core_functions(Library& library);
void add_time_functions(Library& library);
void add_string_functions(Library& library);
void add_string_builders(Library& library);
void add_math_functions(Library& library);
void add_network_functions(Library& library);
void add_optional_functions(Library& library);
void add_encoders(Library& library);

/// The value of a name that stands for a type: `int`, `net.IP`; absent if it does not.
Value type_constant(std::string_view name);
Type type_named(std::string_view name);

}  // namespace holdpoint::cel
