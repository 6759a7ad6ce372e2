#include "service/webauthn/ceremony.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include <cstring>
#include <memory>

#include "base/sha256.h"

namespace holdpoint::webauthn {
namespace {

const std::string challenge(88, 'c');
const RelyingParty party{"localhost", {"http://localhost:7480"}};

std::string head(int major, std::size_t number) {
    if (number < 24) return {static_cast<char>(major << 5 | static_cast<int>(number))};
    if (number < 256) return {static_cast<char>(major << 5 | 24), static_cast<char>(number)};
    return {static_cast<char>(major << 5 | 25), static_cast<char>(number >> 8),
            static_cast<char>(number)};
}
std::string number(int value) {
    return value >= 0 ? head(0, static_cast<std::size_t>(value))
                      : head(1, static_cast<std::size_t>(-1 - value));
}
std::string bytes(const std::string& text) { return head(2, text.size()) + text; }
std::string text(const std::string& words) { return head(3, words.size()) + words; }

/// An authenticator in a few lines of OpenSSL; its members may be bent.
class Authenticator {
  public:
    explicit Authenticator(bool is_ed25519 = false)
        : is_ed25519_(is_ed25519),
          key_(is_ed25519 ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519") : EVP_EC_gen("P-256"),
               EVP_PKEY_free) {}

    std::string origin = "http://localhost:7480";
    std::string rp_id = "localhost";
    unsigned char flags = 0x05;
    std::uint32_t counter = 7;
    std::string id = "credential";

    std::string cose() const {
        if (is_ed25519_) {
            std::string raw(32, '\0');
            std::size_t size = raw.size();
            EVP_PKEY_get_raw_public_key(key_.get(), data(raw), &size);
            return head(5, 4) + number(1) + number(1) + number(3) + number(-8) + number(-1) +
                   number(6) + number(-2) + bytes(raw);
        }
        std::string point(65, '\0');
        std::size_t size = 0;
        EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PUB_KEY, data(point),
                                        point.size(), &size);
        return head(5, 5) + number(1) + number(2) + number(3) + number(-7) + number(-1) +
               number(1) + number(-2) + bytes(point.substr(1, 32)) + number(-3) +
               bytes(point.substr(33));
    }
    std::string client_data(const std::string& type, const std::string& over = challenge) const {
        return R"({"type":")" + type + R"(","challenge":")" + base64url_of(over) +
               R"(","origin":")" + origin + R"(","crossOrigin":false})";
    }
    std::string authenticator_data(bool has_credential) const {
        std::string out(as_text(sha256(rp_id)));
        out += static_cast<char>(flags | (has_credential ? 0x40 : 0));
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(counter >> shift);
        if (has_credential)
            out += std::string(16, '\0') + '\0' + static_cast<char>(id.size()) + id + cose();
        return out;
    }
    std::string sign(const std::string& message) const {
        EVP_MD_CTX* context = EVP_MD_CTX_new();
        std::string signature(128, '\0');
        std::size_t size = signature.size();
        EVP_DigestSignInit(context, nullptr, is_ed25519_ ? nullptr : EVP_sha256(), nullptr,
                           key_.get());
        EVP_DigestSign(context, data(signature), &size,
                       reinterpret_cast<const unsigned char*>(message.data()), message.size());
        EVP_MD_CTX_free(context);
        return signature.substr(0, size);
    }
    NewCredential create() const {
        NewCredential made;
        made.id = id;
        made.client_data = client_data("webauthn.create");
        made.attestation = head(5, 3) + text("fmt") + text("none") + text("attStmt") + head(5, 0) +
                           text("authData") + bytes(authenticator_data(true));
        return made;
    }
    Assertion get(const std::string& over = challenge) const {
        Assertion made;
        made.id = id;
        made.client_data = client_data("webauthn.get", over);
        made.authenticator_data = authenticator_data(false);
        made.signature =
            sign(made.authenticator_data + std::string(as_text(sha256(made.client_data))));
        return made;
    }

  private:
    static unsigned char* data(std::string& out) {
        return reinterpret_cast<unsigned char*>(out.data());
    }
    bool is_ed25519_;
    std::shared_ptr<EVP_PKEY> key_;
};

std::string why_not(const Authenticator& key, const Assertion& assertion,
                    std::int64_t counter = 0) {
    const Result<Asserted> asserted =
        verify_assertion(party, challenge, key.cose(), counter, assertion);
    return asserted ? "accepted" : asserted.error().field + ": " + asserted.error().message;
}

TEST(WebAuthn, X1_a_passkey_is_made_and_signs) {
    for (const bool is_ed25519 : {false, true}) {
        const Authenticator key(is_ed25519);
        const Result<Registered> made = verify_registration(party, challenge, key.create());
        ASSERT_TRUE(made) << made.error().message;
        EXPECT_EQ(made->public_key, key.cose());
        EXPECT_EQ(made->counter, 7u);
        EXPECT_EQ(to_string(made->algorithm), is_ed25519 ? "EdDSA" : "ES256");
        const Result<Asserted> asserted =
            verify_assertion(party, challenge, made->public_key, 6, key.get());
        ASSERT_TRUE(asserted) << asserted.error().message;
        EXPECT_EQ(asserted->counter, 7u);
        EXPECT_FALSE(asserted->is_backed_up);
    }
}

TEST(WebAuthn, X2_everything_about_an_assertion_must_fit) {
    const Authenticator key;
    EXPECT_EQ(why_not(key, key.get()), "accepted");
    const auto bent = [&](auto bend) {
        Authenticator copy = key;
        bend(copy);
        return why_not(key, copy.get());
    };
    EXPECT_EQ(bent([](Authenticator& a) { a.origin = "https://evil.example"; }),
              "clientDataJSON: comes from another origin");
    EXPECT_EQ(bent([](Authenticator& a) { a.origin = "http://localhost:7480.evil.example"; }),
              "clientDataJSON: comes from another origin");
    EXPECT_EQ(bent([](Authenticator& a) { a.rp_id = "evil.example"; }),
              "authenticatorData: is for another relying party");
    EXPECT_EQ(bent([](Authenticator& a) { a.flags = 0x04; }),
              "authenticatorData: says that nobody was there");
    EXPECT_EQ(bent([](Authenticator& a) { a.flags = 0x01; }),
              "authenticatorData: says that the person was not verified");
    EXPECT_EQ(bent([](Authenticator& a) { a.flags = 0x15; }),
              "authenticatorData: contradicts itself about its backup");
    EXPECT_EQ(why_not(key, key.get("another")), "clientDataJSON: has another challenge");
    EXPECT_EQ(why_not(key, Authenticator().get()), "signature: is not of this passkey");
    Assertion assertion = key.get();
    assertion.client_data = key.client_data("webauthn.create");
    EXPECT_EQ(why_not(key, assertion), "clientDataJSON: is of another ceremony");
    assertion = key.get();
    assertion.signature.back() = static_cast<char>(assertion.signature.back() ^ 1);
    EXPECT_EQ(why_not(key, assertion), "signature: is not of this passkey");
    assertion = key.get();
    assertion.authenticator_data += 'x';
    EXPECT_EQ(why_not(key, assertion), "authenticatorData: goes on after its end");
    assertion.authenticator_data.resize(36);
    EXPECT_EQ(why_not(key, assertion), "authenticatorData: ends too early");
}

TEST(WebAuthn, X2_a_counter_must_grow_where_there_is_one) {
    Authenticator key;
    const std::string back =
        "authenticatorData: counts backwards: the passkey may have been copied";
    EXPECT_EQ(why_not(key, key.get(), 6), "accepted");
    EXPECT_EQ(why_not(key, key.get(), 7), back);
    EXPECT_EQ(why_not(key, key.get(), 8), back);
    key.counter = 0;
    EXPECT_EQ(why_not(key, key.get(), 0), "accepted") << "not every authenticator counts";
    EXPECT_EQ(why_not(key, key.get(), 5), back);
}

TEST(WebAuthn, what_browsers_send_is_read_strictly) {
    const auto problem = [](std::string_view text) {
        const Result<json::value> value = json::parse(text);
        const Result<Assertion> assertion = read_assertion(*value, "passkey");
        return assertion ? "read" : assertion.error().field + " " + assertion.error().message;
    };
    EXPECT_EQ(problem("7"), "passkey must be an object");
    EXPECT_EQ(problem("{}"), "passkey.type must be `public-key`");
    EXPECT_EQ(problem(R"({"type":"public-key"})"), "passkey.response must be an object");
    EXPECT_EQ(problem(R"({"type":"public-key","response":{}})"), "passkey.id is missing");
    EXPECT_EQ(problem(R"({"type":"public-key","id":"a+","response":{}})"),
              "passkey.id must be base64url text without padding");
    EXPECT_EQ(problem(R"({"type":"public-key","id":"AA","response":{"clientDataJSON":7}})"),
              "passkey.response.clientDataJSON must be base64url text");
}

TEST(WebAuthn, the_party_follows_from_where_people_reach_the_server) {
    EXPECT_EQ(relying_party_of("https://gate.example").id, "gate.example");
    EXPECT_EQ(relying_party_of("https://gate.example:8443/x").origins,
              std::vector<std::string>{"https://gate.example:8443"});
    EXPECT_EQ(relying_party_of("https://gate.example:8443/x").id, "gate.example");
    for (const char* here : {"http://127.0.0.1:7480", "http://[::1]:7480", "http://localhost:7480"})
        EXPECT_EQ(relying_party_of(here).origins, std::vector<std::string>{"http://localhost:7480"})
            << here;
    EXPECT_EQ(relying_party_of("http://127.0.0.1:7480").id, "localhost");
    for (const char* none :
         {"http://gate.example", "https://10.0.0.1", "https://[2001:db8::1]:1", "", "gate.example"})
        EXPECT_FALSE(relying_party_of(none).is_set()) << none;
}

}  // namespace
}  // namespace holdpoint::webauthn
