#include "agent/demo/scenes.h"

#include <array>

namespace holdpoint::agent {
namespace {

/// `$1`, `$2` and `$3` stand for the words of the round.
struct Draft {
    std::string_view name, person, script, worker, before;
    using Words = std::array<std::string_view, 3>;
    std::array<Words, 3> rounds = {};
};

constexpr std::array drafts{
    Draft{"publish",
          "Please publish the post \"$2\".",
          R"([
      {"say": "Let me see which posts there are.", "call": [{"tool": "cms_listPosts", "arguments": {}}]},
      {"say": "\"$2\" is written and still a draft. I would publish it now.",
       "call": [{"tool": "cms_publishPost", "arguments": {"slug": "$1"}}]},
      {"when": "Arguments that ran", "say": "Done, with your change. {{heard}}"},
      {"when": "changed\":", "say": "\"$2\" is on the site now."},
      {"when": "another way", "say": "You want it done another way, so I ask.",
       "call": [{"tool": "request_human_input", "arguments": {
           "question": "What shall I do with \"$2\"?", "type": "choice", "options": ["keep the draft", "archive it"]}}]},
      {"when": "archive it", "call": [{"tool": "cms_archivePost", "arguments": {"slug": "$1"}}]},
      {"when": "keep the draft", "say": "\"$2\" stays a draft."},
      {"when": "changed\":", "say": "\"$2\" is archived."},
      {"when": "rejected", "say": "Then \"$2\" stays a draft. {{heard}}"},
      {"when": "imed out", "say": "Nobody answered, so \"$2\" stays a draft."},
      {"say": "\"$2\" was not published. {{heard}}"}])",
          "",
          "INSERT OR REPLACE INTO posts VALUES ('$1', '$2', 'draft')",
          {{{"spring-sale", "Spring sale"},
            {"new-menu", "The new menu"},
            {"autumn-walk", "A walk in autumn"}}}},
    Draft{"refund",
          "Refund order $1, $3 sent everything back.",
          R"([
      {"say": "The refund worker knows how to do that.",
       "call": [{"tool": "delegate_to_refund", "arguments": {"task": "Refund order $1 in full"}}]},
      {"say": "The refund worker has finished with order $1."}])",
          R"([
      {"say": "First I look the order up.", "call": [{"tool": "find_order", "arguments": {"orderId": "$1"}}]},
      {"say": "$3 paid $2 cents for order $1 and got nothing back yet.",
       "call": [{"tool": "process_refund", "arguments": {"orderId": "$1", "amount": $2}}]},
      {"when": "rejected", "say": "Not in full, then. I would pay back 500 cents for the postage.",
       "call": [{"tool": "process_refund", "arguments": {"orderId": "$1", "amount": 500}}]},
      {"when": "changed\":", "say": "The money is on its way, $3 should know.",
       "call": [{"tool": "send_notification",
                 "arguments": {"recipient": "$3", "text": "Your money is on its way."}}]},
      {"when": "changed\":", "say": "Order $1 is settled."},
      {"when": "imed out", "say": "Nobody approved the refund of order $1 in time."},
      {"say": "No money was moved for order $1. {{heard}}"}])",
          "UPDATE orders SET refunded = 0 WHERE id = '$1'",
          {{{"1234", "50000", "Ms Winter"},
            {"1235", "1200", "Mr Summer"},
            {"1236", "800", "Ms Autumn"}}}},
    Draft{"archive", "Our old posts should not be found any more.",
          R"([
      {"say": "Two posts are old, and one image is used nowhere. That is three calls at once.",
       "call": [{"tool": "cms_archivePost", "arguments": {"slug": "old-news"}},
                {"tool": "cms_archivePost", "arguments": {"slug": "opening-hours"}},
                {"tool": "cms_deleteImage", "arguments": {"name": "banner.png"}}]},
      {"when": "rejected", "say": "I did what you allowed and left the rest."},
      {"when": "another way", "say": "I did what you allowed; the rest I leave for another way."},
      {"when": "imed out", "say": "Not everything was answered in time; that stays as it is."},
      {"say": "The old posts are put away."}])",
          "",
          "UPDATE posts SET state = 'published' WHERE slug IN ('old-news', 'opening-hours');"
          "INSERT OR REPLACE INTO images VALUES ('banner.png', '')"},
    Draft{"title", "Write a post about the summer party.",
          R"([
      {"say": "A post needs a title, and you know best.",
       "call": [{"tool": "request_human_input", "arguments": {"question": "What should the post be called?"}}]},
      {"when": "\"answer\"", "say": "I write the draft.", "call": [{"tool": "cms_createPost",
          "arguments": {"slug": "summer-party", "title": "{{answer}}"}}]},
      {"when": "changed\":", "say": "The draft is there. Shall everyone see it?",
       "call": [{"tool": "cms_publishPost", "arguments": {"slug": "summer-party"}}]},
      {"when": "changed\":", "say": "The summer party is announced."},
      {"say": "There is no post about the summer party on the site. {{heard}}"}])",
          "", "DELETE FROM posts WHERE slug = 'summer-party'"},
    Draft{"page", "Delete the about page.",
          R"([
      {"call": [{"tool": "cms_deletePage", "arguments": {"page": "about"}}]},
      {"say": "This deletes the page \"About us\" with its 3 sections for good. Shall I go on?"},
      {"when": "yes", "say": "You said yes.", "call": [{"tool": "cms_deletePage",
          "arguments": {"page": "about", "confirmed": true, "confirmation_token": "{{token}}"}}]},
      {"when": "changed\":", "say": "The about page is gone."},
      {"say": "I left the about page where it is."}])",
          "",
          "INSERT OR REPLACE INTO pages VALUES ('about', 'About us', 1);"
          "DELETE FROM sections WHERE page = 'about';"
          "INSERT INTO sections VALUES ('about', 'Who we are'), ('about', 'Where we are'), "
          "('about', 'Contact')"},
    Draft{"letter", "Answer Ms Winter, whose parcel came late.",
          R"([
      {"say": "First I look her order up.", "call": [{"tool": "find_order", "arguments": {"orderId": "1234"}}]},
      {"say": "Dear Ms Winter, we are sorry that your parcel came late. The postage is on us."},
      {"say": "Dear Ms Winter, we are sorry. Please tell us how we can make it good."},
      {"say": "Dear Ms Winter, we are sorry."}])",
          "", ""},
    Draft{"clean-up", "Clean up the site.", "", "",
          "INSERT OR REPLACE INTO pages VALUES ('test', 'Test page', 1), "
          "('landing-old', 'Old landing', 1)"},
};

std::string filled(std::string_view text, const Draft::Words& words) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_place =
            text[at] == '$' && at + 1 < text.size() && text[at + 1] >= '1' && text[at + 1] <= '3';
        if (is_place)
            out += words[static_cast<std::size_t>(text[++at] - '1')];
        else
            out += text[at];
    }
    return out;
}

}  // namespace

std::size_t scene_count() { return drafts.size(); }

Scene scene(std::size_t at, std::size_t round) {
    const Draft& draft = drafts.at(at);
    const Draft::Words& words = draft.rounds[round % draft.rounds.size()];
    return {std::string(draft.name), filled(draft.person, words), filled(draft.script, words),
            filled(draft.worker, words), filled(draft.before, words)};
}

}  // namespace holdpoint::agent
