#include "policy/cel/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/cel/lexer.h"
#include "policy/cel/macros.h"

namespace holdpoint::cel {
namespace {

constexpr std::array<std::string_view, 21> reserved_words = {
    "as",        "break", "const",  "continue", "else", "false", "for",
    "function",  "if",    "import", "in",       "let",  "loop",  "package",
    "namespace", "null",  "return", "true",     "var",  "void",  "while"};

bool is_reserved(std::string_view word) {
    return std::ranges::find(reserved_words, word) != reserved_words.end();
}

/// Words that are no names even after a point.
bool is_literal_word(std::string_view word) {
    return word == "true" || word == "false" || word == "null" || word == "in";
}

struct Operator {
    std::string_view symbol;
    std::string_view function;
    int level;  ///< binds tighter the higher it is
};
constexpr std::array<Operator, 12> operators = {{{"==", "_==_", 0},
                                                 {"!=", "_!=_", 0},
                                                 {"<", "_<_", 0},
                                                 {"<=", "_<=_", 0},
                                                 {">", "_>_", 0},
                                                 {">=", "_>=_", 0},
                                                 {"in", "@in", 0},
                                                 {"+", "_+_", 1},
                                                 {"-", "_-_", 1},
                                                 {"*", "_*_", 2},
                                                 {"/", "_/_", 2},
                                                 {"%", "_%_", 2}}};
constexpr int level_max = 2;

class Parser {
  public:
    Parser(const std::vector<Token>& tokens, const Environment::Switches& switches,
           const Limits& limits, Ast& ast)
        : tokens_(tokens), switches_(switches), limits_(limits), ast_(ast) {}

    std::optional<Complaint> run() {
        ast_.root = parse_expr();
        if (!complaint_ && peek().kind != TokenKind::end) {
            fail(peek().span.begin,
                 fmt::format("unexpected {}, expected an operator or the end", shown(peek())));
        }
        return std::move(complaint_);
    }

  private:
    // --- tokens

    const Token& peek() const { return tokens_[next_]; }
    const Token& take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
    bool is_symbol(std::string_view symbol) const {
        return peek().kind == TokenKind::symbol && peek().text == symbol;
    }
    bool take_symbol(std::string_view symbol) {
        if (!is_symbol(symbol)) return false;
        take();
        return true;
    }
    std::uint32_t last_end() const { return next_ == 0 ? 0 : tokens_[next_ - 1].span.end; }

    static std::string shown(const Token& token) {
        switch (token.kind) {
            case TokenKind::end:
                return "end of the expression";
            case TokenKind::string:
                return "string";
            case TokenKind::bytes:
                return "bytes";
            default:
                return fmt::format("`{}`", visible(token.text));
        }
    }

    ExprId fail(std::uint32_t offset, std::string message,
                ErrorCode code = ErrorCode::invalid_argument) {
        if (!complaint_) complaint_ = Complaint{offset, std::move(message), code};
        return no_expr;
    }

    bool expect(std::string_view symbol, std::string_view where) {
        if (take_symbol(symbol)) return true;
        fail(peek().span.begin,
             fmt::format("expected `{}` {}, found {}", symbol, where, shown(peek())));
        return false;
    }

    // --- building

    ExprId add(Expr expr) {
        if (ast_.exprs.size() >= limits_.nodes_max) {
            return fail(expr.span.begin,
                        fmt::format("the expression has more than {} parts", limits_.nodes_max),
                        ErrorCode::too_large);
        }
        for (const ExprId child : expr.arguments) {
            expr.height = std::max(expr.height, ast_[child].height + 1);
        }
        if (expr.target != no_expr) {
            expr.height = std::max(expr.height, ast_[expr.target].height + 1);
        }
        // Chains like `a.b.c` and `1 + 1 + 1` nest without brackets, and everything after the
        // parser walks the tree by recursion.
        if (expr.height > static_cast<std::uint32_t>(limits_.depth_max) * 8) {
            return fail(expr.span.begin, "the expression has too many operators in a row",
                        ErrorCode::too_large);
        }
        ast_.exprs.push_back(std::move(expr));
        return static_cast<ExprId>(ast_.exprs.size() - 1);
    }

    ExprId add_call(std::string_view function, std::uint32_t at, std::uint32_t begin,
                    std::vector<ExprId> arguments) {
        Expr call{.kind = Expr::Kind::call};
        call.name = function;
        call.at = at;
        call.span = {begin, last_end()};
        call.arguments = std::move(arguments);
        return add(std::move(call));
    }

    ExprId add_literal(Span span, Value value) {
        Expr literal{.kind = Expr::Kind::literal};
        literal.span = span;
        literal.at = span.begin;
        literal.literal = value;
        return add(std::move(literal));
    }

    // --- expressions

    /// Every expression inside of another passes here, so this is where depth is counted.
    ExprId parse_expr() {
        if (++depth_ > limits_.depth_max) {
            return fail(
                peek().span.begin,
                fmt::format("the expression is nested more than {} deep", limits_.depth_max),
                ErrorCode::too_large);
        }
        const ExprId expr = parse_conditional();
        --depth_;
        return expr;
    }

    ExprId parse_conditional() {
        const std::uint32_t begin = peek().span.begin;
        const ExprId condition = parse_logical("||", "_||_");
        if (complaint_ || !is_symbol("?")) return condition;
        const std::uint32_t at = take().span.begin;
        const ExprId yes = parse_logical("||", "_||_");
        if (complaint_ || !expect(":", "of the conditional")) return no_expr;
        const ExprId no = parse_expr();
        if (complaint_) return no_expr;
        return add_call("_?_:_", at, begin, {condition, yes, no});
    }

    /// A chain of one logical operator becomes one call: its operands commute and absorb each
    /// other's errors, so there is no order among them to keep in the tree.
    ExprId parse_logical(std::string_view symbol, std::string_view function) {
        const bool is_or = symbol == "||";
        const std::uint32_t begin = peek().span.begin;
        const ExprId first = is_or ? parse_logical("&&", "_&&_") : parse_binary(0);
        if (complaint_ || !is_symbol(symbol)) return first;
        const std::uint32_t at = peek().span.begin;
        std::vector<ExprId> operands = {first};
        while (take_symbol(symbol)) {
            operands.push_back(is_or ? parse_logical("&&", "_&&_") : parse_binary(0));
            if (complaint_) return no_expr;
        }
        return add_call(function, at, begin, std::move(operands));
    }

    const Operator* peek_operator(int level) const {
        const bool is_in = peek().kind == TokenKind::name && peek().text == "in";
        if (peek().kind != TokenKind::symbol && !is_in) return nullptr;
        for (const Operator& candidate : operators) {
            if (candidate.level == level && candidate.symbol == peek().text) {
                return &candidate;
            }
        }
        return nullptr;
    }

    ExprId parse_binary(int level) {
        const std::uint32_t begin = peek().span.begin;
        ExprId left = level == level_max ? parse_unary() : parse_binary(level + 1);
        while (!complaint_) {
            const Operator* found = peek_operator(level);
            if (!found) break;
            const std::uint32_t at = take().span.begin;
            const ExprId right = level == level_max ? parse_unary() : parse_binary(level + 1);
            if (complaint_) break;
            left = add_call(found->function, at, begin, {left, right});
        }
        return complaint_ ? no_expr : left;
    }

    ExprId parse_unary() {
        std::vector<std::uint32_t> signs;
        const std::string symbol = is_symbol("!") ? "!" : "-";
        while (is_symbol(symbol)) signs.push_back(take().span.begin);
        if (symbol == "-" && !signs.empty() && is_number(peek())) {
            // The sign belongs to the literal: only so can the smallest integer be written.
            next_--;
            signs.pop_back();
        }
        ExprId operand = parse_member();
        while (!complaint_ && !signs.empty()) {
            operand = add_call(symbol == "!" ? "!_" : "-_", signs.back(), signs.back(), {operand});
            signs.pop_back();
        }
        return complaint_ ? no_expr : operand;
    }

    static bool is_number(const Token& token) {
        return token.kind == TokenKind::integer || token.kind == TokenKind::real;
    }

    ExprId parse_member() {
        const std::uint32_t begin = peek().span.begin;
        ExprId expr = parse_primary();
        while (!complaint_) {
            if (is_symbol(".") || is_symbol(".?")) {
                expr = parse_select(expr, begin);
            } else if (is_symbol("[") || is_symbol("[?")) {
                expr = parse_index(expr, begin);
            } else if (is_symbol("{") && is_name_chain(expr)) {
                return fail(peek().span.begin, "message literals are not supported");
            } else {
                break;
            }
        }
        return complaint_ ? no_expr : expr;
    }

    bool is_name_chain(ExprId id) const {
        while (ast_[id].kind == Expr::Kind::select && !ast_[id].is_test) id = ast_[id].target;
        return ast_[id].kind == Expr::Kind::name;
    }

    ExprId parse_select(ExprId target, std::uint32_t begin) {
        const bool is_optional = take().text == ".?";
        const Token& field = peek();
        const bool is_word = field.kind == TokenKind::name && !is_literal_word(field.text);
        if (!is_word && field.kind != TokenKind::quoted_name) {
            return fail(field.span.begin, fmt::format("expected a field or function name after "
                                                      "the point, found {}",
                                                      shown(field)));
        }
        take();
        if (!is_optional && is_word && is_symbol("(")) {
            std::vector<ExprId> arguments;
            if (!parse_arguments(arguments)) return no_expr;
            return finish_call(field, target, begin, std::move(arguments));
        }
        Expr select{.kind = Expr::Kind::select};
        select.is_optional = is_optional;
        select.span = {begin, last_end()};
        select.at = field.span.begin;
        select.name = field.text;
        select.target = target;
        return add(std::move(select));
    }

    ExprId parse_index(ExprId target, std::uint32_t begin) {
        const Token& bracket = take();
        const ExprId index = parse_expr();
        if (complaint_ || !expect("]", "after the index")) return no_expr;
        return add_call(bracket.text == "[?" ? "_[?_]" : "_[_]", bracket.span.begin, begin,
                        {target, index});
    }

    bool parse_arguments(std::vector<ExprId>& arguments) {
        take();
        if (take_symbol(")")) return true;
        do {
            arguments.push_back(parse_expr());
            if (complaint_) return false;
        } while (take_symbol(","));
        return expect(")", "after the arguments");
    }

    ExprId finish_call(const Token& name, ExprId target, std::uint32_t begin,
                       std::vector<ExprId> arguments) {
        Expr call{.kind = Expr::Kind::call};
        call.span = {begin, last_end()};
        call.at = name.span.begin;
        call.name = name.text;
        call.target = target;
        call.arguments = std::move(arguments);
        if (switches_.macros) {
            Expansion expansion = expand_macro(call, ast_, switches_);
            if (!expansion.complaint.empty()) {
                return fail(expansion.offset, std::move(expansion.complaint));
            }
        }
        return add(std::move(call));
    }

    // --- primaries

    ExprId parse_primary() {
        const Token& token = peek();
        switch (token.kind) {
            case TokenKind::integer:
            case TokenKind::unsigned_integer:
            case TokenKind::real:
                return parse_number(false);
            case TokenKind::string:
                take();
                return add_literal(token.span, Value::string(ast_.arena.copy(token.text)));
            case TokenKind::bytes:
                take();
                return add_literal(token.span, Value::bytes(ast_.arena.copy(token.text)));
            case TokenKind::name:
                return parse_name();
            case TokenKind::symbol:
                return parse_bracketed();
            case TokenKind::quoted_name:
                return fail(token.span.begin, "a quoted name can only be a field, after a point");
            case TokenKind::end:
                break;
        }
        return fail(token.span.begin, "expected an expression, found its end");
    }

    ExprId parse_number(bool is_negative) {
        const std::uint32_t begin = peek().span.begin;
        if (is_negative) take();
        const Token& token = take();
        const Span span{begin, token.span.end};
        if (token.kind == TokenKind::real) return parse_real(token, span, is_negative);

        const bool is_hex = token.text.starts_with("0x") || token.text.starts_with("0X");
        const char* first = token.text.data() + (is_hex ? 2 : 0);
        const char* last = token.text.data() + token.text.size();
        std::uint64_t number = 0;
        const auto read = std::from_chars(first, last, number, is_hex ? 16 : 10);
        bool fits = read.ec == std::errc();
        if (token.kind == TokenKind::unsigned_integer) {
            if (!fits) return fail(begin, "the number does not fit an uint");
            return add_literal(span, Value::unsigned_integer(number));
        }
        constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        fits = fits && number <= max + (is_negative ? 1 : 0);
        if (!fits) return fail(begin, "the number does not fit an int");
        if (is_negative) number = 0 - number;
        return add_literal(span, Value::integer(static_cast<std::int64_t>(number)));
    }

    ExprId parse_real(const Token& token, Span span, bool is_negative) {
        // Unlike from_chars, strtod gives zero for what is too small.
        const double number = std::strtod(token.text.c_str(), nullptr);
        if (number > std::numeric_limits<double>::max()) {
            return fail(span.begin, "the number does not fit a double");
        }
        return add_literal(span, Value::real(is_negative ? -number : number));
    }

    ExprId parse_name() {
        const Token& token = take();
        if (token.text == "true") return add_literal(token.span, Value::boolean(true));
        if (token.text == "false") return add_literal(token.span, Value::boolean(false));
        if (token.text == "null") return add_literal(token.span, Value::null());
        return finish_name(token, token.span.begin, false);
    }

    ExprId finish_name(const Token& token, std::uint32_t begin, bool is_absolute) {
        if (is_reserved(token.text)) {
            return fail(token.span.begin, fmt::format("`{}` is a reserved word", token.text));
        }
        if (is_symbol("(")) {
            std::vector<ExprId> arguments;
            if (!parse_arguments(arguments)) return no_expr;
            return finish_call(token, no_expr, begin, std::move(arguments));
        }
        Expr name{.kind = Expr::Kind::name};
        name.is_absolute = is_absolute;
        name.span = {begin, token.span.end};
        name.at = token.span.begin;
        name.name = token.text;
        return add(std::move(name));
    }

    ExprId parse_bracketed() {
        const Token& token = peek();
        if (token.text == "-" && is_number(tokens_[next_ + 1])) return parse_number(true);
        if (token.text == "(") return parse_parenthesised();
        if (token.text == "[" || token.text == "[?") return parse_list();
        if (token.text == "{") return parse_map();
        if (token.text == ".") {
            take();
            if (peek().kind != TokenKind::name) {
                return fail(peek().span.begin, "expected a name after the leading point");
            }
            return finish_name(take(), token.span.begin, true);
        }
        return fail(token.span.begin,
                    fmt::format("expected an expression, found {}", shown(token)));
    }

    ExprId parse_parenthesised() {
        const std::uint32_t begin = take().span.begin;
        const ExprId expr = parse_expr();
        if (complaint_ || !expect(")", "to close the bracket")) return no_expr;
        ast_[expr].span = {begin, last_end()};
        ast_[expr].is_bracketed = true;
        return expr;
    }

    ExprId parse_list() {
        Expr list{.kind = Expr::Kind::list};
        const Token& open = take();
        list.at = open.span.begin;
        // `[?x]` begins like the optional index.
        bool is_optional = open.text == "[?";
        while (!is_symbol("]") || is_optional) {
            is_optional = is_optional || take_symbol("?");
            list.optional_arguments.push_back(is_optional);
            is_optional = false;
            list.arguments.push_back(parse_expr());
            if (complaint_) return no_expr;
            if (!take_symbol(",")) break;
        }
        if (!expect("]", "to close the list")) return no_expr;
        list.span = {list.at, last_end()};
        return add(std::move(list));
    }

    ExprId parse_map() {
        Expr map{.kind = Expr::Kind::map};
        map.at = take().span.begin;
        while (!is_symbol("}")) {
            map.optional_arguments.push_back(take_symbol("?"));
            map.arguments.push_back(parse_expr());
            if (complaint_ || !expect(":", "between key and value")) return no_expr;
            map.arguments.push_back(parse_expr());
            if (complaint_) return no_expr;
            if (!take_symbol(",")) break;
        }
        if (!expect("}", "to close the map")) return no_expr;
        map.span = {map.at, last_end()};
        return add(std::move(map));
    }

    const std::vector<Token>& tokens_;
    const Environment::Switches& switches_;
    const Limits& limits_;
    Ast& ast_;
    std::size_t next_ = 0;
    int depth_ = -1;  // the whole expression is inside of nothing
    std::optional<Complaint> complaint_;
};

}  // namespace

std::optional<Complaint> parse(std::string_view source, const Environment::Switches& switches,
                               const Limits& limits, Ast& ast) {
    std::vector<Token> tokens;
    if (std::optional<Complaint> complaint = tokenize(source, tokens)) return complaint;
    return Parser(tokens, switches, limits, ast).run();
}

}  // namespace holdpoint::cel
