#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the driver says on the wire, and what it needs to find in the answers. The peers in
/// bench/peers speak the same few routes.
namespace holdpoint::load {

/// Who speaks, one key per line in a file; clients take turns with them.
class Keys {
  public:
    /// An empty path stands for a peer that wants no keys.
    explicit Keys(const std::string& path);
    const std::string& operator[](std::size_t client) const { return keys_[client % keys_.size()]; }

  private:
    std::vector<std::string> keys_;
};

/// A proposal of about `bytes` in total body length.
std::string create(const std::string& key, std::string_view session, std::int64_t number,
                   std::size_t bytes);
std::string wait(const std::string& key, std::string_view id, int seconds);
std::string decide(const std::string& key, std::string_view id, std::string_view note);
std::string get(const std::string& key, std::string_view target);

/// The first `"id":"…"` of a resource; ends the program if there is none.
std::string_view id_of(std::string_view body);
/// True when the body is of a settled request whose decision carries this note.
bool is_decided_with(std::string_view body, std::string_view note);
/// The number after `"name":`; -1 if it is not there.
std::int64_t number_of(std::string_view body, std::string_view name);

}  // namespace holdpoint::load
