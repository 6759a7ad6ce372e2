#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace holdpoint::http {

struct SslFree {
    void operator()(ssl_st* ssl) const;
    void operator()(ssl_ctx_st* context) const;
};
using SslSession = std::unique_ptr<ssl_st, SslFree>;

/// A certificate chain and its key, ready to serve TLS 1.2 and 1.3. Sessions keep what they need
/// of it, so a context may be replaced while they run.
class TlsContext {
  public:
    /// Reads PEM files. An error names the file and what is wrong with it.
    static Result<TlsContext> load(const std::string& certificate_file,
                                   const std::string& key_file);

    /// A server session on a non-blocking socket, which stays the caller's. Null if out of memory.
    SslSession start_session(int socket) const;

  private:
    std::unique_ptr<ssl_ctx_st, SslFree> context_;
};

}  // namespace holdpoint::http
