#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::policy::shell {

/// A word as the searching reading sees it: quotes and backslashes gone, expansions empty.
struct LexedWord {
    std::uint32_t offset;  ///< into the text the lexer appends to
    std::uint32_t length;
    bool has_glob;   ///< an unquoted `*`, `?` or `[`
    bool is_target;  ///< of a redirection: no argument
};

struct LexedCommand {
    const std::vector<LexedWord>* words;
    std::uint32_t pipeline;  ///< commands whose output may reach each other share it
    std::uint32_t stage;     ///< output flows from lower to higher stages
    bool is_piped;           ///< something flows in
};

/// Splits any text into commands, at every operator, substitution and group. Never fails; what it
/// cannot know (heredocs, comments and quotes that do not close) is reported by is_uncertain(), and
/// then the same text should be read once more with `Quotes::ignored`.
class Lexer {
  public:
    enum class Quotes { honoured, ignored };
    using Take = std::function<void(const LexedCommand&)>;

    struct Start {
        std::uint32_t pipeline = 0;
        std::uint32_t stage = 0;
        bool is_piped = false;  ///< then nothing inside begins a pipeline of its own
    };

    /// Calls `take` for every command when it ends; word texts are appended to `text`. `pipelines`
    /// is the last number given to a pipeline.
    void read(std::string_view input, Quotes quotes, const Start& start, std::string& text,
              std::uint32_t& pipelines, const Take& take);

    bool is_uncertain() const { return is_uncertain_; }
    bool is_complete() const { return is_complete_; }  ///< false: nested too deeply

  private:
    enum class Nest : std::uint8_t { top, group, substitution, output, backtick };
    struct Context {
        Nest nest = Nest::top;
        bool in_double_quotes = false;
        bool has_word = false;
        bool word_has_glob = false;
        bool word_is_digits = true;
        bool word_is_braced = false;
        bool next_is_target = false;
        bool is_piped = false;
        bool was_piped = false;  // a pipe stands before the command being read
        int braces = 0;
        int parameters = 0;
        int compounds = 0;
        std::uint32_t pipeline = 0;
        std::uint32_t stage = 0;
        std::string word;
        std::vector<LexedWord> words;

        /// As new, but the memory stays.
        void reset(Nest new_nest);
    };

    Context& top() { return contexts_[depth_]; }
    void step();
    bool take_ordinary();
    bool step_quoted(char c);
    void step_plain(char c);
    void dollar();
    void ansi_quoted();
    void single_quoted();
    void backslash();
    void backtick();
    void open(Nest nest, std::size_t length);
    void close_parenthesis();
    void pop();
    void brace(char c);
    void redirect(char c);
    void operate(char c);
    void add(char c);
    void end_word();
    void end_command();
    void begin_pipeline();
    void note_compound(std::string_view word);
    char peek(std::size_t ahead = 1) const {
        return at_ + ahead < input_.size() ? input_[at_ + ahead] : '\0';
    }

    std::string_view input_;
    std::size_t at_ = 0;
    bool ignores_quotes_ = false;
    bool is_uncertain_ = false;
    bool is_complete_ = true;
    std::vector<Context> contexts_;  // kept for the memory of their words
    std::size_t depth_ = 0;
    std::string* text_ = nullptr;
    std::uint32_t* pipelines_ = nullptr;
    const Take* take_ = nullptr;
};

}  // namespace holdpoint::policy::shell
