#include "api/http/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace holdpoint::http {

namespace {

/// As OpenSSL's socket BIO, but a write to a closed connection must not raise SIGPIPE.
int write_without_signal(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    const auto written = ::send(static_cast<int>(BIO_get_fd(bio, nullptr)), data,
                                static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
    const int result = static_cast<int>(written);
    if (result <= 0 && BIO_sock_should_retry(result)) BIO_set_retry_write(bio);
    return result;
}

BIO_METHOD* make_socket_method() {
    BIO_METHOD* method = BIO_meth_new(BIO_TYPE_SOCKET, "socket without SIGPIPE");
    HOLDPOINT_ASSERT(method != nullptr);
    const BIO_METHOD* plain = BIO_s_socket();
    BIO_meth_set_write(method, &write_without_signal);
    BIO_meth_set_read(method, BIO_meth_get_read(plain));
    BIO_meth_set_puts(method, BIO_meth_get_puts(plain));
    BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(plain));
    BIO_meth_set_create(method, BIO_meth_get_create(plain));
    BIO_meth_set_destroy(method, BIO_meth_get_destroy(plain));
    return method;
}

const BIO_METHOD* socket_method() {
    static BIO_METHOD* const method = make_socket_method();
    return method;
}

/// We speak one protocol. A client that offers only others is told so instead of being misread.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* out = nullptr;
    const int outcome =
        SSL_select_next_proto(&out, chosen_size, ours, sizeof ours - 1, offered, offered_size);
    *chosen = out;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// A key with a passphrase is an error, not a question on the terminal.
int no_passphrase(char*, int, int, void* was_asked) {
    *static_cast<bool*>(was_asked) = true;
    return -1;
}

/// One of the two files: what it should hold, and the flag that names it.
struct PemFile {
    std::string_view what;
    std::string_view flag;
    const std::string& path;
};

Error file_error(const PemFile& file, std::string_view problem) {
    std::string message = "cannot use " + std::string(file.what) + " `" + file.path + "` (" +
                          std::string(file.flag) + "): ";
    return Error{.code = ErrorCode::invalid_argument, .message = message + std::string(problem)};
}

/// The first error says what is wrong, those after it only where that was noticed.
std::string openssl_problem() {
    const unsigned long code = ERR_peek_error();
    ERR_clear_error();
    const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
    return text == nullptr ? "unknown problem" : text;
}

bool holds(const std::string& path, std::string_view words) {
    std::ifstream stream(path, std::ios::binary);
    std::string line;
    while (std::getline(stream, line))
        if (line.starts_with("-----BEGIN ") && line.find(words) != std::string::npos) return true;
    return false;
}

std::string certificate_problem(const std::string& path) {
    const std::string otherwise = openssl_problem();
    if (holds(path, "CERTIFICATE-----")) return otherwise;
    if (holds(path, "PRIVATE KEY-----")) return "it holds a private key, which is for --tls-key";
    return "it holds no certificate in PEM form";
}

std::string key_problem(const std::string& path, const std::string& certificate,
                        bool has_passphrase) {
    const int reason = ERR_GET_REASON(ERR_peek_error());
    const std::string otherwise = openssl_problem();
    if (has_passphrase)
        return "it has a passphrase; give one without (`openssl pkey -in FILE -out NEW_FILE`)";
    if (!holds(path, "PRIVATE KEY-----"))
        return holds(path, "CERTIFICATE-----") ? "it holds a certificate, which is for --tls-cert"
                                               : "it holds no private key in PEM form";
    if (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH)
        return "it does not belong to the certificate `" + certificate + "`";
    return otherwise;
}

Result<void> check_readable(const PemFile& file) {
    errno = 0;
    if (std::ifstream stream(file.path);
        !stream || stream.peek() == std::ifstream::traits_type::eof()) {
        return file_error(file, errno == 0 ? "the file is empty" : std::strerror(errno));
    }
    return {};
}

}  // namespace

void SslFree::operator()(ssl_st* ssl) const { SSL_free(ssl); }
void SslFree::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> TlsContext::load(const std::string& certificate_file,
                                    const std::string& key_file) {
    const PemFile certificate{"certificate", "--tls-cert", certificate_file};
    const PemFile key{"private key", "--tls-key", key_file};
    for (const PemFile& file : {certificate, key})
        if (Result<void> readable = check_readable(file); !readable) return readable.error();
    ERR_clear_error();
    TlsContext loaded;
    loaded.context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* context = loaded.context_.get();
    if (context == nullptr) {
        return Error{.code = ErrorCode::unavailable,
                     .message = "cannot start TLS: " + openssl_problem()};
    }
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Buffers are released while a connection waits: most of them wait most of the time.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
    bool has_passphrase = false;
    SSL_CTX_set_default_passwd_cb(context, &no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &has_passphrase);

    if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
        return file_error(certificate, certificate_problem(certificate_file));
    }
    if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return file_error(key, key_problem(key_file, certificate_file, has_passphrase));
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
    return loaded;
}

SslSession TlsContext::start_session(int socket) const {
    SslSession session(SSL_new(context_.get()));
    BIO* bio = BIO_new(socket_method());
    if (!session || bio == nullptr) {
        BIO_free(bio);
        return nullptr;
    }
    BIO_set_fd(bio, socket, BIO_NOCLOSE);
    SSL_set_bio(session.get(), bio, bio);
    SSL_set_accept_state(session.get());
    return session;
}

}  // namespace holdpoint::http
