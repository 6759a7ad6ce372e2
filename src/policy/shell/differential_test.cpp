// Compares the proving reading with the shells themselves: what it accepts, bash and dash must run
// with exactly those words. Every program is a function that writes down its arguments, PATH leads
// nowhere and the working folder is a throw-away one, so nothing else can run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policy/shell/reading.h"

namespace holdpoint::policy::shell {
namespace {

using Argv = std::vector<std::string>;
struct Step {
    Argv argv;
    Operator followed_by;
};
using Prediction = std::optional<std::vector<Step>>;  // nothing: opaque

Prediction proved(const std::string& text) {
    const auto reading = std::make_unique<Reading>();
    prove(text, Dialect::bash, *reading);
    if (reading->is_opaque()) return std::nullopt;
    std::vector<Step> steps;
    for (std::size_t i = 0; i < reading->size(); ++i) {
        const Command command = (*reading)[i];
        Step step{{}, command.followed_by()};
        for (std::size_t j = 0; j < command.size(); ++j) step.argv.emplace_back(command[j]);
        steps.push_back(std::move(step));
    }
    return steps;
}

/// A naive reading: blanks separate words, `;` and `&&` separate commands, quotes are dropped.
Prediction naive(const std::string& text) {
    std::vector<Step> steps(1);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        std::erase_if(word, [](char c) { return c == '\'' || c == '"'; });
        if (word == ";" || word == "&&") {
            if (!steps.back().argv.empty()) {
                steps.back().followed_by = word == ";" ? Operator::sequence : Operator::and_then;
                steps.emplace_back();
            }
        } else if (!word.empty()) {
            steps.back().argv.push_back(word);
        }
    }
    if (steps.back().argv.empty()) steps.pop_back();
    if (steps.empty()) return std::nullopt;
    steps.back().followed_by = Operator::end;
    return steps;
}

/// The proving reading with one mistake: an operator at the end is overlooked.
Prediction forgetful(const std::string& text) {
    std::string cut = text;
    while (!cut.empty() && std::string_view("&|; ").contains(cut.back())) cut.pop_back();
    return proved(cut);
}

/// Which commands run if each ends with `succeeds`; sorted, since pipes have no order.
std::vector<Argv> executed(const std::vector<Step>& steps, bool succeeds) {
    std::vector<Argv> result;
    bool runs = true;
    for (const Step& step : steps) {
        if (runs) result.push_back(step.argv);
        if (step.followed_by == Operator::pipe) continue;
        if (step.followed_by == Operator::sequence) runs = true;
        // A skipped command leaves the status as it was: that of the last one that ran.
        if (step.followed_by == Operator::and_then) runs = succeeds;
        if (step.followed_by == Operator::or_else) runs = !succeeds;
    }
    std::ranges::sort(result);
    return result;
}

// What a function can stand for; the script itself needs printf and exit.
const std::vector<std::string> programs = {"a",  "b",  "git",  "ls",  "echo", "true",
                                           "x1", "rm", "test", "pwd", "HEAD"};

const std::vector<std::string> atoms = {
    "a",       "b",        "git",     "ls",       "echo",   "true",   "x1",      "rm",    "test",
    "pwd",     "--long=x", "-n",      "-",        "--",     "a.b",    "/a/b",    "./a",   "x=1",
    "=",       "a=b",      "%1",      "%s",       "+x",     "@",      ":",       ",",     "HEAD",
    "5",       " ",        " ",       " ",        " ",      " ",      " ",       "\t",    "\n",
    ";",       ";",        "&&",      "&&",       "||",     "|",      "|",       "|&",    "&",
    ";;",      "'",        "\"",      "''",       "\"\"",   "'a b'",  "\"c d\"", "'$x'",  "';'",
    "\"|\"",   "\"$x\"",   "\"`a`\"", "\"\\\"",   "\"a!\"", "'\n'",   "\"é\"",   "é",     "\\",
    "\\\n",    "$x",       "$(a)",    "`a`",      "$'a'",   "${x}",   "$((1))",  "*",     "?",
    "[a]",     "~",        "~/a",     "{a,b}",    "{",      "}",      "(",       ")",     "#",
    "# a",     "<a",       ">a",      "2>&1",     "<<a",    "<(a)",   "!",       "! ",    "^",
    "if",      "then",     "fi",      "for",      "in",     "do",     "done",    "case",  "esac",
    "time",    "[[",       "]]",      "function", "coproc", "select", "while",   "until", "\r",
    "\xc2\xa0"};

/// Mostly plain, so that a good part is accepted; the rest is whatever a shell may stumble over.
std::string random_text(std::mt19937& random) {
    std::string text;
    const auto pick = [&](std::size_t from, std::size_t to) {
        return atoms[std::uniform_int_distribution<std::size_t>(from, to - 1)(random)];
    };
    const int length = std::uniform_int_distribution(1, 14)(random);
    const bool is_wild = random() % 3 == 0;
    constexpr std::size_t plain_atoms = 55;
    for (int i = 0; i < length; ++i) {
        text += is_wild || random() % 40 == 0 ? pick(0, atoms.size()) : pick(0, plain_atoms);
        if (random() % 2 == 0) text += ' ';
    }
    return text;
}

class Folder {
  public:
    Folder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "holdpoint-shell-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
        // Something for a pattern to match, should one be taken for a word.
        for (const char* name : {"a", "b", "x1"}) std::ofstream(path_ / name) << "x";
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// What the shell really ran for each text, in order of the texts.
class Oracle {
  public:
    explicit Oracle(std::string shell) : shell_(std::move(shell)) {}

    std::vector<std::vector<Argv>> run(const std::vector<std::string>& texts, bool succeeds) {
        const Folder folder;
        const std::filesystem::path script = folder.path() / "script";
        const std::filesystem::path output = folder.path() / "output";
        write_script(script, texts, succeeds);
        const std::filesystem::path work = folder.path() / "work";
        std::filesystem::create_directory(work);
        const std::string command = "cd " + work.string() + " && env -i PATH=/nowhere " + shell_ +
                                    " " + script.string() + " 3>>" + output.string() +
                                    " </dev/null >/dev/null 2>&1";
        const int status = std::system(("timeout 120 sh -c " + quoted(command)).c_str());
        EXPECT_EQ(status, 0) << "the shell did not come to its end";
        return read_output(output, texts.size());
    }

  private:
    /// Functions for all programs that the shell lets us replace; bash also has a handler for the
    /// rest (but paths fail without a trace).
    std::string prelude(bool succeeds) const {
        const bool is_bash = shell_.ends_with("bash");
        const std::string end = std::string("return ") + (succeeds ? "0" : "1") + "; }\n";
        // What is told must be one write, or the members of a pipe tell in each other's words; and
        // bash writes at every line end.
        const std::string head =
            is_bash ? "() { printf -v told '%s\\037' " : "() { printf '%s\\037' ";
        const std::string tail =
            is_bash ? " \"$@\" '\036'; printf %s \"${told//$'\\n'/$'\\034'}\" >&3; " + end
                    : " \"$@\" '\036' >&3; " + end;
        std::string result;
        for (const std::string& program : programs) result += program + head + program + tail;
        if (is_bash) result += "command_not_found_handle" + head + tail;
        return result;
    }

    void write_script(const std::filesystem::path& file, const std::vector<std::string>& texts,
                      bool succeeds) const {
        std::ofstream out(file, std::ios::binary);
        out << prelude(succeeds) << "prelude=" << quoted(prelude(succeeds)) << "\n";
        for (std::size_t i = 0; i < texts.size(); ++i) {
            out << "printf '\\035' >&3\n";
            if (i % 25 == 0) {
                // A process of its own, as the agent's tool would start it; too slow for all.
                out << shell_ << " -c \"$prelude\"" << quoted(texts[i]) << "\n";
            } else {
                out << "eval " << quoted(" " + texts[i]) << "\n";  // the blank: `-n` is no option
            }
        }
        out << "exit 0\n";
    }

    static std::vector<std::vector<Argv>> read_output(const std::filesystem::path& file,
                                                      std::size_t count) {
        std::ifstream in(file, std::ios::binary);
        const std::string all((std::istreambuf_iterator<char>(in)), {});
        std::vector<std::vector<Argv>> result;
        Argv argv;
        std::string word;
        for (const char c : all) {
            if (c == '\035') {
                result.emplace_back();
            } else if (c == '\036') {
                if (!result.empty()) result.back().push_back(std::exchange(argv, {}));
                word.clear();
            } else if (c == '\037') {
                if (!(word.empty() && argv.empty())) argv.push_back(std::exchange(word, {}));
            } else {
                word += c == '\034' ? '\n' : c;
            }
        }
        EXPECT_EQ(result.size(), count);
        result.resize(count);
        for (std::vector<Argv>& commands : result) std::ranges::sort(commands);
        return result;
    }

    std::string shell_;
};

bool is_traced(const Argv& argv, bool is_bash) {
    if (argv[0].contains('/')) return false;
    if (std::ranges::find(programs, argv[0]) != programs.end()) return true;
    return is_bash && argv[0] != ":";
}

struct Differences {
    int accepted = 0;
    std::vector<std::string> found;
};

Differences compare(const std::string& shell, Prediction (*predict)(const std::string&),
                    int texts_count, bool succeeds) {
    std::mt19937 random(20261116);  // the same strings every time
    std::vector<std::string> texts;
    std::vector<std::vector<Argv>> expected;
    std::set<std::string> seen;
    Differences result;
    const bool is_bash = shell.ends_with("bash");
    for (int i = 0; i < texts_count; ++i) {
        const std::string text = random_text(random);
        const Prediction steps = predict(text);
        if (!steps || !seen.insert(text).second) continue;
        const bool all_traced =
            std::ranges::all_of(*steps, [&](const Step& s) { return is_traced(s.argv, is_bash); });
        if (!all_traced) continue;
        texts.push_back(text);
        expected.push_back(executed(*steps, succeeds));
    }
    result.accepted = static_cast<int>(texts.size());
    const std::vector<std::vector<Argv>> really = Oracle(shell).run(texts, succeeds);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (really[i] != expected[i]) result.found.push_back(texts[i]);
    }
    return result;
}

std::string shell_at(const char* path) { return std::filesystem::exists(path) ? path : ""; }

class ShellDifferential : public testing::TestWithParam<bool> {};

TEST_P(ShellDifferential, P2_bash_runs_exactly_the_words_that_were_proved) {
    const std::string bash = shell_at("/bin/bash");
    if (bash.empty()) GTEST_SKIP() << "no bash here";
    const Differences differences = compare(bash, proved, 40'000, GetParam());
    EXPECT_GT(differences.accepted, 3'000);
    EXPECT_TRUE(differences.found.empty())
        << differences.found.size() << " differ, the first: " << differences.found.front();
}

TEST_P(ShellDifferential, P2_dash_runs_exactly_the_words_that_were_proved) {
    const std::string dash = shell_at("/bin/dash");
    if (dash.empty()) GTEST_SKIP() << "no dash here";
    const Differences differences = compare(dash, proved, 40'000, GetParam());
    EXPECT_GT(differences.accepted, 800);
    EXPECT_TRUE(differences.found.empty())
        << differences.found.size() << " differ, the first: " << differences.found.front();
}

INSTANTIATE_TEST_SUITE_P(EveryCommand, ShellDifferential, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "succeeds" : "fails"; });

TEST(ShellDifferentialItself, finds_a_wrong_reading) {
    const std::string bash = shell_at("/bin/bash");
    if (bash.empty()) GTEST_SKIP() << "no bash here";
    EXPECT_GT(compare(bash, naive, 400, true).found.size(), 20U);
    EXPECT_FALSE(compare(bash, forgetful, 8'000, true).found.empty());
}

}  // namespace
}  // namespace holdpoint::policy::shell
