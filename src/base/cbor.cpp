#include "base/cbor.h"

#include <limits>
#include <optional>

#include "base/text.h"

namespace holdpoint::cbor {
namespace {

bool is_same_key(const Value& a, const Value& b) {
    return a.kind == b.kind && a.number == b.number && a.text == b.text;
}

class Reader {
  public:
    Reader(std::string_view bytes, const Limits& limits) : bytes_(bytes), limits_(limits) {}

    bool read(Value& out, int depth) {
        if (depth > limits_.depth_max) return fail("is nested too deeply");
        if (++count_ > limits_.values_max) return fail("has too many values");
        const std::optional<Head> head = read_head();
        if (!head) return false;
        switch (head->major) {
            case 0:
            case 1:
                return take_integer(out, *head);
            case 2:
            case 3:
                return take_text(out, *head);
            case 4:
                out.kind = Kind::array;
                return take_items(out, head->argument, depth);
            case 5:
                return take_map(out, head->argument, depth);
            case 7:
                return take_simple(out, head->argument);
            default:
                return fail("has a tag");
        }
    }

    std::size_t used() const { return at_; }
    const std::string& problem() const { return problem_; }

  private:
    struct Head {
        int major;
        std::uint64_t argument;
    };

    bool fail(const char* why) {
        if (problem_.empty()) problem_ = why;
        return false;
    }

    std::optional<unsigned char> byte() {
        if (at_ == bytes_.size()) {
            fail("ends too early");
            return std::nullopt;
        }
        return static_cast<unsigned char>(bytes_[at_++]);
    }

    std::optional<Head> read_head() {
        const std::optional<unsigned char> first = byte();
        if (!first) return std::nullopt;
        const int major = *first >> 5;
        const unsigned low = *first & 31U;
        if (low < 24) return Head{major, low};
        if (low > 27 || (major == 7 && low > 23)) {
            fail(major == 7 ? "has a floating-point number or a value unknown here"
                            : "has an indefinite length");
            return std::nullopt;
        }
        std::uint64_t argument = 0;
        const int size = 1 << (low - 24);
        for (int i = 0; i < size; ++i) {
            const std::optional<unsigned char> next = byte();
            if (!next) return std::nullopt;
            argument = (argument << 8) | *next;
        }
        // The shortest form only: a number that fits into half the bytes was written otherwise.
        const std::uint64_t least = size == 1 ? 24 : std::uint64_t{1} << (size * 4);
        if (argument < least) {
            fail("has a number that is not in its shortest form");
            return std::nullopt;
        }
        return Head{major, argument};
    }

    bool take_integer(Value& out, const Head& head) {
        if (head.argument > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return fail("has a number out of range");
        out.kind = Kind::integer;
        const auto number = static_cast<std::int64_t>(head.argument);
        out.number = head.major == 0 ? number : -1 - number;
        return true;
    }

    bool take_text(Value& out, const Head& head) {
        if (head.argument > bytes_.size() - at_) return fail("ends too early");
        out.kind = head.major == 2 ? Kind::bytes : Kind::text;
        out.text = bytes_.substr(at_, static_cast<std::size_t>(head.argument));
        at_ += static_cast<std::size_t>(head.argument);
        if (out.kind == Kind::text && !is_utf8(out.text)) return fail("has text that is not UTF-8");
        return true;
    }

    bool take_items(Value& out, std::uint64_t count, int depth) {
        // Each takes a byte at least: what cannot be there is not waited for.
        if (count > bytes_.size() - at_) return fail("ends too early");
        for (std::uint64_t i = 0; i < count; ++i)
            if (!read(out.items.emplace_back(), depth + 1)) return false;
        return true;
    }

    bool take_map(Value& out, std::uint64_t pairs, int depth) {
        out.kind = Kind::map;
        if (pairs > (bytes_.size() - at_) / 2) return fail("ends too early");
        if (!take_items(out, pairs * 2, depth)) return false;
        for (std::size_t i = 0; i < out.items.size(); i += 2) {
            const Value& key = out.items[i];
            if (!key.is(Kind::integer) && !key.is(Kind::text))
                return fail("has a key that is neither a number nor text");
            for (std::size_t k = 0; k < i; k += 2)
                if (is_same_key(out.items[k], key)) return fail("has a key twice");
        }
        return true;
    }

    bool take_simple(Value& out, std::uint64_t argument) {
        constexpr std::uint64_t no = 20, yes = 21, nothing = 22;
        if (argument == nothing) {
            out.kind = Kind::null;
            return true;
        }
        if (argument != no && argument != yes)
            return fail("has a floating-point number or a value unknown here");
        out.kind = Kind::boolean;
        out.number = argument == yes ? 1 : 0;
        return true;
    }

    std::string_view bytes_;
    const Limits& limits_;
    std::size_t at_ = 0;
    std::size_t count_ = 0;
    std::string problem_;
};

Error bad(const std::string& why) { return {ErrorCode::invalid_argument, "the CBOR " + why}; }

}  // namespace

const Value* Value::find(std::string_view key) const {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].is(Kind::text) && items[i].text == key) return &items[i + 1];
    return nullptr;
}

const Value* Value::find(std::int64_t key) const {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].is(Kind::integer) && items[i].number == key) return &items[i + 1];
    return nullptr;
}

Result<Read> read_front(std::string_view bytes, const Limits& limits) {
    if (bytes.size() > limits.bytes_max) return bad("is too long");
    Reader reader(bytes, limits);
    cbor::Read read;
    if (!reader.read(read.value, 0)) return bad(reader.problem());
    read.size = reader.used();
    return read;
}

Result<Value> read(std::string_view bytes, const Limits& limits) {
    Result<Read> front = read_front(bytes, limits);
    if (!front) return front.error();
    if (front->size != bytes.size()) return bad("goes on after its end");
    return std::move(front->value);
}

}  // namespace holdpoint::cbor
