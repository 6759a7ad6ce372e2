#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::agent {

/// One conversation of the demo: what a person wants, and what the model does about it. Turns with
/// `when` are the reactions to what people decide.
struct Scene {
    std::string name;
    std::string person;       ///< what the person wants
    std::string script;       ///< of the editor; empty for the plan, which no model makes
    std::string worker = {};  ///< script of a refund worker, where there is one
    std::string before = {};  ///< SQL that puts the scene's own things back
};

/// How many scenes make a round.
std::size_t scene_count();
/// The scene at that place of the round; what it is about changes from round to round.
Scene scene(std::size_t at, std::size_t round);

}  // namespace holdpoint::agent
