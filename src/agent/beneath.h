#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace holdpoint::agent {

/// Owns a file descriptor.
class Descriptor {
  public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() { close(); }
    void close();
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

enum class Access { read, replace, list };

/// Opens a path below a folder. The kernel follows it, and refuses what would lead out of the
/// folder at any step: `..`, absolute paths, symbolic links.
Result<Descriptor> open_beneath(const std::string& folder, const std::string& path, Access access);
Result<void> remove_beneath(const std::string& folder, const std::string& path);

}  // namespace holdpoint::agent
