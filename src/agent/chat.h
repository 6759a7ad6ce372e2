#pragma once

#include <string>

#include <holdpoint/model.h>

namespace holdpoint::agent {

/// The body of a chat completion.
Json chat_body(const ChatOptions& options, const Model::Prompt& prompt);

/// Reads a whole answer; `internal` where it is none.
Result<Turn> read_completion(const Json& answer);

/// Puts a streamed answer together from its chunks.
class StreamedTurn {
  public:
    /// Takes one `data:` of the stream; text goes to `on_text` as it comes.
    Result<void> take(const std::string& data,
                      const std::function<void(std::string_view)>& on_text);
    bool is_done() const { return is_done_; }
    Result<Turn> finish();

  private:
    Turn turn_;
    bool is_done_ = false;
    bool has_choice_ = false;
};

}  // namespace holdpoint::agent
