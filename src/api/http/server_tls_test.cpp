// The same over TLS.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "api/http/test_server.h"

namespace holdpoint::http {
namespace {

// --- TLS ----------------------------------------------------------------------------------------

/// A self-signed certificate for `name`, written with its key into two PEM files.
void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& name) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* file = std::fopen(certificate_file.c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
    file = std::fopen(key_file.c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

std::string subject_seen_by(TestClient& client) {
    X509* certificate = SSL_get1_peer_certificate(client.tls());
    if (certificate == nullptr) return {};
    std::array<char, 64> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                              static_cast<int>(name.size()));
    X509_free(certificate);
    return name.data();
}

class TlsServerTest : public ServerTest {
  protected:
    TlsServerTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "http_tls_XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
        certificate_file_ = directory_ / "certificate.pem";
        key_file_ = directory_ / "key.pem";
        write_certificate(certificate_file_, key_file_, "first");
    }
    ~TlsServerTest() override { std::filesystem::remove_all(directory_); }

    TestClient connect() { return TestClient({.port = port_, .is_tls = true}); }

    std::filesystem::path directory_;
};

TEST_F(TlsServerTest, ServesRequestsOfAllSizes) {
    start({}, {.is_tls = true});
    TestClient client = connect();
    ASSERT_TRUE(client.is_connected());
    EXPECT_EQ(client.get("/peer").body, "127.0.0.1 tls");
    const std::string body(200'000, 'b');
    EXPECT_EQ(client.post("/b", body).body, "POST /b " + body);
    EXPECT_EQ(client.get("/large").body.size(), 8U * 1024 * 1024);
    client.send(get("/1") + get("/2"));
    EXPECT_EQ(client.read_response().body, "GET /1 ");
    EXPECT_EQ(client.read_response().body, "GET /2 ");
}

TEST_F(TlsServerTest, AnswersManyPipelinedRequests) {
    start({}, {.is_tls = true});
    TestClient client = connect();
    std::string batch;
    for (int i = 0; i < 2000; ++i) batch += get("/" + std::to_string(i));
    std::thread sender([&] { client.send(get("/hold") + batch); });
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    sender.join();
    answer_parked("first");
    EXPECT_EQ(client.read_response().body, "first");
    for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(client.read_response().body, "GET /" + std::to_string(i) + " ");
    }
}

TEST_F(TlsServerTest, WaitsStreamsAndNoticesTheEnd) {
    start({}, {.is_tls = true});
    TestClient waiting = connect();
    waiting.send(get("/park"));
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    answer_parked("woken");
    EXPECT_EQ(waiting.read_response().body, "woken");
    waiting.send(get("/park"));
    TestClient stream = connect();
    stream.send(get("/stream"));
    stream.read_head();
    on_loop([this] { streams_[0]->send("data: x\n\n"); });
    EXPECT_EQ(stream.read_event()->data, "x");
    ASSERT_TRUE(eventually([this] { return parked_.size() == 1; }));
    waiting.close();
    stream.close();
    EXPECT_TRUE(eventually([this] { return abandoned_ == 1 && closed_streams_ == 1; }));
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
}

TEST_F(TlsServerTest, RefusesOldVersionsAndPlainText) {
    start({}, {.is_tls = true});
    TestClient plain(port_);
    plain.send(get("/"));
    EXPECT_NE(plain.read_response().status, 200);
    EXPECT_TRUE(on_loop([this] { return handled_.empty(); }));
    TestClient modern = connect();
    EXPECT_GE(SSL_version(modern.tls()), TLS1_2_VERSION);
}

TEST_F(TlsServerTest, SurvivesAClientThatClosesDuringTheAnswer) {
    start({}, {.is_tls = true});
    for (int i = 0; i < 5; ++i) {
        TestClient client = connect();
        client.send(get("/large") + get("/large"));
        client.read_head();
    }
    EXPECT_TRUE(eventually([this] { return server_->statistics().open == 0; }));
    EXPECT_EQ(connect().get("/").status, 200);
}

TEST_F(TlsServerTest, CutsOffASlowHandshake) {
    Options options = fast_options();
    options.head_timeout = milliseconds(60);
    start(options, {.is_tls = true});
    TestClient silent(port_);
    EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(TlsServerTest, TakesANewCertificateForNewConnections) {
    start({}, {.is_tls = true});
    TestClient before = connect();
    EXPECT_EQ(subject_seen_by(before), "first");
    write_certificate(certificate_file_, key_file_, "second");
    ASSERT_TRUE(on_loop([this] { return server_->reload_certificate().has_value(); }));
    TestClient after = connect();
    EXPECT_EQ(subject_seen_by(after), "second");
    EXPECT_EQ(before.get("/").status, 200);
}

TEST_F(TlsServerTest, KeepsTheOldCertificateIfTheNewOneIsBroken) {
    start({}, {.is_tls = true});
    std::filesystem::resize_file(certificate_file_, 40);
    const auto outcome = on_loop([this] { return server_->reload_certificate(); });
    ASSERT_FALSE(outcome.has_value());
    EXPECT_NE(outcome.error().message.find("certificate.pem"), std::string::npos);
    TestClient client = connect();
    EXPECT_EQ(client.get("/").status, 200);
}

TEST_F(TlsServerTest, NamesTheFileThatCannotBeUsed) {
    const auto problem = [&](const std::string& certificate, const std::string& key) {
        Server server(io_, {}, [](Request&&, std::shared_ptr<Exchange>) {});
        const Result<void> outcome = server.use_certificate(certificate, key);
        return outcome ? std::string() : outcome.error().message;
    };
    EXPECT_EQ(problem("/nowhere.pem", key_file_),
              "cannot use certificate `/nowhere.pem` (--tls-cert): No such file or directory");
    EXPECT_EQ(problem(certificate_file_, "/nowhere.pem"),
              "cannot use private key `/nowhere.pem` (--tls-key): No such file or directory");
    const std::string other = directory_ / "other.pem";
    write_certificate(directory_ / "unused.pem", other, "other");
    EXPECT_NE(problem(certificate_file_, other).find("other.pem` (--tls-key): it does not belong"),
              std::string::npos);
    EXPECT_NE(problem(key_file_, key_file_).find("it holds a private key, which is for --tls-key"),
              std::string::npos);
    EXPECT_NE(problem(certificate_file_, certificate_file_)
                  .find("it holds a certificate, which is for --tls-cert"),
              std::string::npos);
}

}  // namespace
}  // namespace holdpoint::http
