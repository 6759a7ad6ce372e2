// Runs tests of the CEL specification from a file of JSON lines.
//
//     cel_conformance FILE
//
// Prints each failure, a table by tier and, last, `N passed, N failed`. An expected error may come
// from parsing, checking or evaluating. Exit code 1 if a test failed, 2 if the file cannot be read.
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "policy/cel/encode.h"
#include "policy/cel/environment.h"
#include "policy/cel/evaluate.h"
#include "policy/cel/program.h"

namespace holdpoint::cel {
namespace {

namespace bj = boost::json;

// --- types, written as `map(string,list(int))`

class TypeReader {
  public:
    explicit TypeReader(std::string_view text) : text_(text) {}

    Type read() {
        std::string name;
        while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ')' && text_[at_] != ',') {
            name += text_[at_++];
        }
        std::vector<Type> parameters;
        if (at_ < text_.size() && text_[at_] == '(') {
            do {
                ++at_;
                parameters.push_back(read());
            } while (at_ < text_.size() && text_[at_] == ',');
            ++at_;
        }
        return named(name, std::move(parameters));
    }

  private:
    static Type named(const std::string& name, std::vector<Type> parameters) {
        parameters.resize(std::max<std::size_t>(parameters.size(), name == "map" ? 2 : 0));
        if (name == "dyn" || name == "any") return Type::dynamic();
        if (name == "null" || name == "null_type") return Type::null();
        if (name == "bool") return Type::boolean();
        if (name == "int") return Type::integer();
        if (name == "uint") return Type::unsigned_integer();
        if (name == "double") return Type::real();
        if (name == "string") return Type::string();
        if (name == "bytes") return Type::bytes();
        if (name == "timestamp" || name == "google.protobuf.Timestamp") return Type::timestamp();
        if (name == "duration" || name == "google.protobuf.Duration") return Type::duration();
        if (name == "net.IP") return Type::ip();
        if (name == "net.CIDR") return Type::cidr();
        if (name == "list") return Type::list(parameters.empty() ? Type() : parameters[0]);
        if (name == "map") return Type::map(parameters[0], parameters[1]);
        if (name == "type") return Type::type(parameters.empty() ? Type() : parameters[0]);
        if (name == "optional_type") {
            return Type::optional(parameters.empty() ? Type() : parameters[0]);
        }
        // A bare capital letter is a parameter of the signature.
        if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') return Type::parameter(name);
        return Type::abstract(name, std::move(parameters));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

Type read_type(std::string_view text) { return TypeReader(text).read(); }

// --- values, written as one-key objects with numbers as text

double read_double(const std::string& text) {
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::stod(text);
}

Value read_value(const bj::value& json, Arena& arena);

Value read_list(const bj::array& json, Arena& arena) {
    auto* elements = arena.make_array<Value>(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) elements[i] = read_value(json[i], arena);
    return Value::list({elements, json.size()});
}

Value read_map(const bj::array& json, Arena& arena) {
    auto* entries = arena.make_array<MapEntry>(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
        entries[i] = {read_value(json[i].at(0), arena), read_value(json[i].at(1), arena)};
    }
    return make_map({entries, json.size()}, arena);
}

Value read_value(const bj::value& json, Arena& arena) {
    const auto& [key, value] = *json.as_object().begin();
    const auto text = [&] { return std::string(value.as_string()); };
    if (key == "null") return Value::null();
    if (key == "bool") return Value::boolean(value.as_bool());
    if (key == "int") return Value::integer(std::stoll(text()));
    if (key == "uint") return Value::unsigned_integer(std::stoull(text()));
    if (key == "double") return Value::real(read_double(text()));
    if (key == "string") return Value::string(arena.copy(text()));
    if (key == "bytes") return Value::bytes(arena.copy(decode_base64(text()).value_or("")));
    if (key == "type") return Value::type(arena.copy(text()));
    if (key == "list") return read_list(value.as_array(), arena);
    if (key == "map") return read_map(value.as_array(), arena);
    if (key == "optional") {
        return value.is_null() ? Value::none() : Value::some(read_value(value, arena), arena);
    }
    const std::int64_t seconds = key == "timestamp" || key == "duration"
                                     ? std::stoll(std::string(value.at("seconds").as_string()))
                                     : 0;
    const bj::value* nanos = value.is_object() ? value.as_object().if_contains("nanos") : nullptr;
    const std::int64_t rest = nanos ? nanos->to_number<std::int64_t>() : 0;
    if (key == "timestamp") {
        return Value::timestamp({seconds, static_cast<std::int32_t>(rest)});
    }
    if (key == "duration") return Value::duration(seconds * 1'000'000'000 + rest);
    throw std::runtime_error("unknown kind of value: " + std::string(key));
}

/// Equality that tells kinds apart and takes NaN for NaN.
bool is_same(const Value& a, const Value& b, Arena& arena) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case Kind::real: {
            const double x = a.as_real();
            const double y = b.as_real();
            return x != x ? y != y : x == y && std::signbit(x) == std::signbit(y);
        }
        case Kind::list:
            if (a.size() != b.size()) return false;
            for (std::size_t i = 0; i < a.size(); ++i) {
                if (!is_same(a.element(i, arena), b.element(i, arena), arena)) return false;
            }
            return true;
        case Kind::map:
            if (a.size() != b.size()) return false;
            for (std::size_t i = 0; i < a.size(); ++i) {
                const MapEntry entry = a.entry(i, arena);
                if (!is_same(entry.value, b.find(entry.key, arena), arena)) return false;
            }
            return true;
        case Kind::optional:
            if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
            return is_same(a.optional_value(), b.optional_value(), arena);
        default:
            return equal(a, b, arena);
    }
}

// --- one test

const Limits limits{
    .source_bytes_max = 64 * 1024, .nodes_max = 10'000, .depth_max = 250, .macro_nesting_max = 16};

bool flag(const bj::object& test, std::string_view name) {
    const bj::value* value = test.if_contains(name);
    return value && value->is_bool() && value->as_bool();
}

void declare(Environment& environment, const bj::object& declaration) {
    const std::string name(declaration.at("name").as_string());
    if (const bj::value* type = declaration.if_contains("type")) {
        environment.declare_variable(name, read_type(type->as_string()));
        return;
    }
    for (const bj::value& given : declaration.at("overloads").as_array()) {
        Overload overload;
        for (const bj::value& parameter : given.at("params").as_array()) {
            overload.parameters.push_back(read_type(parameter.as_string()));
        }
        overload.result = read_type(given.at("result").as_string());
        overload.is_method = given.at("instance").as_bool();
        environment.declare_function(name, std::move(overload));
    }
}

Environment environment_for(const bj::object& test) {
    Environment environment;
    environment.switches().check = !flag(test, "disable_check");
    environment.switches().macros = !flag(test, "disable_macros");
    environment.switches().variable_patterns = true;
    environment.switches().block_macros = true;
    if (const bj::value* container = test.if_contains("container")) {
        environment.set_container(std::string(container->as_string()));
    }
    for (const bj::value& declaration : test.at("type_env").as_array()) {
        declare(environment, declaration.as_object());
    }
    for (const auto& [name, value] : test.at("bindings").as_object()) {
        if (!environment.variable(name)) environment.declare_variable(name, Type::dynamic());
    }
    return environment;
}

/// What came out instead, or nothing if the test passed.
std::optional<std::string> run(const bj::object& test) {
    const bj::object& expected = test.at("expected").as_object();
    const bool wants_error = expected.contains("error");
    const Environment environment = environment_for(test);
    const std::string_view source = test.at("expr").as_string();
    const Result<Program> program = compile(source, environment, limits);
    if (!program) {
        if (wants_error) return std::nullopt;
        return "not compiled: " + program.error().message;
    }
    if (const bj::value* deduced = test.if_contains("deduced_type")) {
        const std::string wanted = read_type(deduced->as_string()).to_string();
        const std::string got = program->result_type().to_string();
        if (wanted != got) return fmt::format("type {} instead of {}", got, wanted);
    }
    if (flag(test, "check_only")) return std::nullopt;

    Arena arena;
    std::vector<Value> slots(environment.variables().size());
    for (const auto& [name, value] : test.at("bindings").as_object()) {
        Slot slot = 0;
        environment.variable(name, &slot);
        slots[slot] = read_value(value, arena);
    }
    Budget budget{1'000'000};
    const Value got = evaluate(*program, {slots}, arena, budget);
    if (wants_error) {
        if (got.is_error()) return std::nullopt;
        return to_text(got, 1000);
    }
    if (got.is_error()) return "error: " + to_text(got);
    const bj::value* wanted = expected.if_contains("value");
    if (!wanted || is_same(got, read_value(*wanted, arena), arena)) return std::nullopt;
    return to_text(got, 1000);
}

struct Tally {
    int passed = 0;
    int failed = 0;
};

int run_file(const char* path) {
    std::ifstream file(path);
    if (!file) {
        std::cerr << "cannot read " << path << '\n';
        return 2;
    }
    std::map<std::string, Tally> tiers;
    Tally total;
    bj::parse_options options;
    options.max_depth = 200;
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        const bj::value json = bj::parse(line, {}, options);
        const bj::object& test = json.as_object();
        std::optional<std::string> got;
        try {
            got = run(test);
        } catch (const std::exception& error) {
            got = std::string("the test itself: ") + error.what();
        }
        Tally& tier = tiers[std::string(test.at("tier").as_string())];
        ++(got ? tier.failed : tier.passed);
        ++(got ? total.failed : total.passed);
        if (!got) continue;
        std::cout << "FAILED " << test.at("id").as_string().c_str() << '\n'
                  << "  expr      " << test.at("expr").as_string().c_str() << '\n'
                  << "  expected  " << bj::serialize(test.at("expected")) << '\n'
                  << "  got       " << *got << '\n';
    }
    std::cout << fmt::format("{:<10} {:>7} {:>7}\n", "tier", "passed", "failed");
    for (const auto& [name, tally] : tiers) {
        std::cout << fmt::format("{:<10} {:>7} {:>7}\n", name, tally.passed, tally.failed);
    }
    std::cout << fmt::format("{} passed, {} failed\n", total.passed, total.failed);
    return total.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace holdpoint::cel

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: cel_conformance FILE\n";
        return 2;
    }
    try {
        return holdpoint::cel::run_file(argv[1]);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
