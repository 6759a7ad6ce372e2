#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdpoint::cel {

/// The type of an expression, a variable or a parameter, as the checker sees it. A handle to an
/// immutable description: cheap to copy, safe to share between threads.
class Type {
  public:
    enum class Kind {
        dynamic,  ///< `dyn`: known at run time only; fits everywhere
        null,
        boolean,
        integer,           ///< `int`, 64 bits
        unsigned_integer,  ///< `uint`, 64 bits
        real,              ///< `double`
        string,
        bytes,
        timestamp,
        duration,
        ip,
        cidr,
        type,       ///< the type of a type value, `type(int)`
        list,       ///< one parameter: the elements
        map,        ///< two parameters: keys and values
        optional,   ///< one parameter: what may be there
        object,     ///< a JSON object with declared fields
        abstract,   ///< any other named type, with parameters
        parameter,  ///< `T` in the signature of a function
    };

    struct Field;

    Type() = default;  ///< `dyn`

    static Type dynamic() { return {}; }
    static Type null() { return Type(Kind::null); }
    static Type boolean() { return Type(Kind::boolean); }
    static Type integer() { return Type(Kind::integer); }
    static Type unsigned_integer() { return Type(Kind::unsigned_integer); }
    static Type real() { return Type(Kind::real); }
    static Type string() { return Type(Kind::string); }
    static Type bytes() { return Type(Kind::bytes); }
    static Type timestamp() { return Type(Kind::timestamp); }
    static Type duration() { return Type(Kind::duration); }
    static Type ip() { return Type(Kind::ip); }
    static Type cidr() { return Type(Kind::cidr); }
    static Type type(Type of);

    /// `size_max` (bytes, elements) is what the static cost estimate may assume; 0 takes what
    /// Limits says.
    static Type string(std::size_t size_max);
    static Type list(Type element, std::size_t size_max = 0);
    static Type map(Type key, Type value, std::size_t size_max = 0);
    static Type optional(Type value);

    /// A JSON object with known fields: selecting any other field is a check error, a declared one
    /// that is missing at run time is an evaluation error (ask with `has`). Names that are not
    /// identifiers are written ``args.`order-id` `` or `args["order-id"]`. `name` is for messages.
    static Type object(std::string name, std::vector<Field> fields);

    static Type abstract(std::string name, std::vector<Type> parameters = {});
    static Type parameter(std::string name);

    Kind kind() const { return kind_; }
    bool is_dynamic() const { return kind_ == Kind::dynamic; }
    bool is_numeric() const {
        return kind_ == Kind::integer || kind_ == Kind::unsigned_integer || kind_ == Kind::real;
    }

    /// Parameters of list, map, optional, type and abstract types; empty for others.
    const std::vector<Type>& parameters() const;
    const Type& element() const;  ///< of a list, an optional, a type; `dyn` if there is none
    const Type& key() const;      ///< of a map
    const Type& value() const;    ///< of a map
    std::size_t size_max() const;

    /// The field of an object type, or null.
    const Type* field(std::string_view name) const;
    const std::vector<Field>& fields() const;

    /// As written in CEL: `list(int)`, `map(string,dyn)`, `optional_type(string)`, `net.IP`.
    std::string to_string() const;
    /// Of object, abstract and parameter types.
    const std::string& name() const;

    /// Same type in every part; sizes do not matter, objects are the same by identity.
    friend bool operator==(const Type& a, const Type& b);

  private:
    struct Description;

    explicit Type(Kind kind) : kind_(kind) {}
    Type(Kind kind, Description description);

    Kind kind_ = Kind::dynamic;
    std::shared_ptr<const Description> description_;
};

struct Type::Field {
    std::string name;
    Type type;
};

}  // namespace holdpoint::cel
