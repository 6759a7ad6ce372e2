#include "policy/cel/library.h"

namespace holdpoint::cel {
namespace {

void add_arithmetic(Library& library) {
    const Type a = Type::parameter("A");
    for (const Type& number : {Type::integer(), Type::unsigned_integer(), Type::real()}) {
        for (const char* name : {"_+_", "_-_", "_*_", "_/_"}) {
            library.op(name, {number, number}, number);
        }
    }
    for (const Type& number : {Type::integer(), Type::unsigned_integer()}) {
        library.op("_%_", {number, number}, number);
    }
    library.op("-_", {Type::integer()}, Type::integer());
    library.op("-_", {Type::real()}, Type::real());
    library.op("!_", {Type::boolean()}, Type::boolean());
    library.op("_+_", {Type::string(), Type::string()}, Type::string());
    library.op("_+_", {Type::bytes(), Type::bytes()}, Type::bytes());
    library.op("_+_", {Type::list(a), Type::list(a)}, Type::list(a));
    library.op("_+_", {Type::duration(), Type::duration()}, Type::duration());
    library.op("_+_", {Type::timestamp(), Type::duration()}, Type::timestamp());
    library.op("_+_", {Type::duration(), Type::timestamp()}, Type::timestamp());
    library.op("_-_", {Type::duration(), Type::duration()}, Type::duration());
    library.op("_-_", {Type::timestamp(), Type::duration()}, Type::timestamp());
    library.op("_-_", {Type::timestamp(), Type::timestamp()}, Type::duration());
}

void add_relations(Library& library) {
    const Type a = Type::parameter("A");
    const Type b = Type::parameter("B");
    library.op("_==_", {a, a}, Type::boolean());
    library.op("_!=_", {a, a}, Type::boolean());
    for (const Type& type :
         {Type::boolean(), Type::integer(), Type::unsigned_integer(), Type::real(), Type::string(),
          Type::bytes(), Type::timestamp(), Type::duration()}) {
        for (const char* name : {"_<_", "_<=_", "_>_", "_>=_"}) {
            library.op(name, {type, type}, Type::boolean());
        }
    }
    library.op("@in", {a, Type::list(a)}, Type::boolean());
    library.op("@in", {a, Type::map(a, b)}, Type::boolean());
    library.op("_?_:_", {Type::boolean(), a, a}, a);
}

void add_indexing(Library& library) {
    const Type a = Type::parameter("A");
    const Type b = Type::parameter("B");
    const Type list = Type::list(a);
    const Type map = Type::map(a, b);
    library.op("_[_]", {list, Type::integer()}, a);
    library.op("_[_]", {map, a}, b);
    library.op("_[_]", {Type::optional(list), Type::integer()}, Type::optional(a));
    library.op("_[_]", {Type::optional(map), a}, Type::optional(b));
    library.op("_[?_]", {list, Type::integer()}, Type::optional(a));
    library.op("_[?_]", {map, a}, Type::optional(b));
    library.op("_[?_]", {Type::optional(list), Type::integer()}, Type::optional(a));
    library.op("_[?_]", {Type::optional(map), a}, Type::optional(b));
}

}  // namespace

void add_operators(Library& library) {
    add_arithmetic(library);
    add_relations(library);
    add_indexing(library);
}

}  // namespace holdpoint::cel
