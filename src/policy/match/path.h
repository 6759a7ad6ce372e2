#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// File paths compared by what they name, as far as the text tells. Symbolic links, mounts and file
/// systems that fold case or normalise Unicode cannot be known here: whoever runs the tool has to
/// open files below a folder without following links out of it.
namespace holdpoint::policy::match {

/// What relative paths and `~` mean, as the operator declared it; both absolute or empty.
struct PathContext {
    std::string working_directory = {};
    std::string home = {};
};

/// A path without `.`, `..`, doubled or trailing slashes. Absolute where the context allows it.
struct NormalPath {
    std::string text;
    bool is_absolute = false;
    bool is_above = false;            ///< begins with `..`: outside of what it is relative to
    bool is_percent_encoded = false;  ///< holds `%41` or the like: a tool may decode it or not
};

/// Refuses what two readers could take for different files: an empty path, control and invisible
/// characters, text that is not UTF-8, backslashes, drive letters, URLs, `~user`, `~/..`, variables
/// in front, wildcards, more than 4096 bytes. `~/x` becomes a path below home, or stays `~/x` where
/// home is not declared.
Result<NormalPath> normalise_path(std::string_view path, const PathContext& context = {});

/// Whether `path` is `folder` or below it. An error where either cannot be read, where they are not
/// both absolute or both relative, and where percent-encoding would change the answer; an error is
/// never an answer to allow on.
Result<bool> path_under(std::string_view path, std::string_view folder,
                        const PathContext& context = {});

/// A glob over normal paths: `src/**`, `**/.env`, `~/.ssh/**`. Relative patterns are relative to
/// the working directory, like paths.
class PathPattern {
  public:
    static Result<PathPattern> compile(std::string_view pattern, const PathContext& context = {});

    /// For rules that allow: never what is percent-encoded or above where it starts.
    bool covers(const NormalPath& path) const;
    /// For rules that deny or require: in any case of letters, decoded or not, with `~` as any
    /// user's home, with a folder for what is in it, through /proc, and where a path is absolute or
    /// leaves its folder, whatever of the pattern it may end with.
    bool finds(const NormalPath& path) const;

  private:
    bool finds_forms(std::string_view text) const;
    bool finds_text(std::string_view text) const;

    std::vector<std::string> patterns_;        // for covers
    std::vector<std::string> loose_patterns_;  // in lower case, for finds
    std::vector<std::string> inner_patterns_;  // relative ones, below a folder that is not known
};

}  // namespace holdpoint::policy::match
