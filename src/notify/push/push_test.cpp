#include "notify/push/push_channel.h"

#include <netinet/in.h>
#include <openssl/evp.h>

#include <map>

#include "base/sha256.h"
#include "notify/outbox_worker.h"
#include "notify/push/encrypt.h"
#include "service/push/endpoint.h"
#include "service/push/token.h"
#include "service/test_store.h"

namespace holdpoint::notify::push {
namespace {

using namespace core::test;
using namespace webpush;
using service::test::RequestPtr;

std::string bytes(std::string_view text) { return from_base64url(text).value_or("not base64url"); }

// RFC 8291, section 5 and appendix A.
const std::string sender_private = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
const std::string sender_public = bytes(
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
const std::string receiver_private = bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94");
const std::string receiver_public = bytes(
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
const std::string secret = bytes("BTBZMqHH6r4Tts7J_aSIgg");
const std::string salt = bytes("DGv6ra1nlYgDCS1FRnbzlw");

TEST(PushEncryption, H8_is_that_of_the_standard_byte_for_byte) {
    const Result<KeyPair> sender = KeyPair::from_private(sender_private);
    ASSERT_TRUE(sender);
    EXPECT_EQ(sender->public_point(), sender_public);
    EXPECT_EQ(sender->private_scalar(), sender_private);
    const Result<std::string> body = encrypt("When I grow up, I want to be a watermelon",
                                             {receiver_public, secret}, *sender, salt, false);
    ASSERT_TRUE(body);
    EXPECT_EQ(base64url_of(*body),
              "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
              "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV"
              "WGNWQexSgSxsj_Qulcy4a-fN");
}

TEST(PushEncryption, both_ends_agree_on_the_secret) {
    const Result<KeyPair> receiver = KeyPair::from_private(receiver_private);
    ASSERT_TRUE(receiver);
    EXPECT_EQ(receiver->public_point(), receiver_public);
    const KeyPair sender = KeyPair::generate();
    EXPECT_EQ(*sender.shared_secret(receiver_public),
              *receiver->shared_secret(sender.public_point()));
}

TEST(PushEncryption, messages_of_about_one_length_have_one_length) {
    const KeyPair sender = KeyPair::generate();
    const Receiver receiver{receiver_public, secret};
    const auto size = [&](std::size_t length) {
        return encrypt(std::string(length, 'x'), receiver, sender, salt)->size();
    };
    EXPECT_EQ(size(1), size(200));
    EXPECT_NE(size(1), size(300));
    EXPECT_LE(size(plaintext_max), 4096u);
    EXPECT_FALSE(encrypt(std::string(plaintext_max + 1, 'x'), receiver, sender, salt));
}

TEST(PushEncryption, refuses_what_is_no_point_of_the_curve) {
    std::string off_curve = receiver_public;
    off_curve.back() = static_cast<char>(off_curve.back() ^ 1);
    EXPECT_TRUE(is_point(receiver_public));
    for (const std::string& wrong : {off_curve, std::string(65, '\0'), receiver_public.substr(1),
                                     std::string(), '\x04' + std::string(64, '\xff')}) {
        EXPECT_FALSE(is_point(wrong));
        EXPECT_FALSE(KeyPair::generate().shared_secret(wrong));
    }
    EXPECT_FALSE(KeyPair::from_private(std::string(32, '\0')));
    EXPECT_FALSE(KeyPair::from_private(std::string(32, '\xff')));
    EXPECT_FALSE(KeyPair::from_private("short"));
}

TEST(PushEndpoint, must_be_public_and_https) {
    for (const char* good :
         {"https://updates.push.services.mozilla.com/wpush/v2/abc",
          "https://fcm.googleapis.com/fcm/send/x", "https://web.push.apple.com/Q?x=1",
          "https://push.example.com:8443/x", "https://93.184.216.34/x", "https://[2606:4700::1]/x"})
        EXPECT_TRUE(read_endpoint(good, false)) << good;
    for (const char* bad : {"http://push.example.com/x",
                            "https://localhost/x",
                            "https://127.0.0.1/x",
                            "https://[::1]/x",
                            "https://10.0.0.1/x",
                            "https://192.168.1.1/x",
                            "https://172.16.0.1/",
                            "https://169.254.169.254/",
                            "https://100.64.0.1/",
                            "https://0.0.0.0/",
                            "https://[::ffff:127.0.0.1]/",
                            "https://[fe80::1]/",
                            "https://[fc00::1]/",
                            "https://[64:ff9b::7f00:1]/",
                            "https://[2002:7f00:1::]/",
                            "https://intranet/",
                            "https://printer.local/",
                            "https://a.localhost/",
                            "https://2130706433/",
                            "https://0x7f.1/",
                            "https://127.1/",
                            "https://user@push.example.com/",
                            "https://push.example.com/#x",
                            "ftp://x.example/",
                            "https:///x",
                            "https://push.example.com:/x",
                            "https://push.example.com:99999999/x",
                            "file:///etc/passwd",
                            "https://push.example.com\\@127.0.0.1/",
                            "https://[::1",
                            "https://exa mple.com/",
                            ""})
        EXPECT_FALSE(read_endpoint(bad, false)) << bad;
    EXPECT_EQ(read_endpoint("https://push.example.com:8443/a/b", false)->origin,
              "https://push.example.com:8443");
    EXPECT_TRUE(read_endpoint("http://127.0.0.1:8080/p", true));
    EXPECT_FALSE(read_endpoint("http://10.0.0.1/p", true));
    EXPECT_FALSE(read_endpoint("http://push.example.com/p", true));
}

TEST(PushEndpoint, an_address_is_looked_at_again_when_it_is_called) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const auto is_open = [&](std::uint32_t number) {
        address.sin_addr.s_addr = htonl(number);
        return is_public(reinterpret_cast<const sockaddr&>(address));
    };
    EXPECT_TRUE(is_open(0x08080808));
    EXPECT_FALSE(is_open(0x7F000001));
    EXPECT_FALSE(is_open(0x0A000001));
    EXPECT_FALSE(is_open(0xE0000001));
    EXPECT_FALSE(is_open(0xFFFFFFFF));
    EXPECT_FALSE(post({"http://127.0.0.1:1/x", {}, "x"}, false)) << "not even tried over http";
    EXPECT_FALSE(post({"https://127.0.0.1:1/x", {}, "x"}, false));
}

TEST(PushToken, is_read_back_with_its_key_only) {
    const Token token{id_of("ann"), SessionId::fresh(start), RequestId::fresh(start),
                      "sha256:" + std::string(64, 'a'), start + 1000};
    const std::string text = seal(token, "key");
    const std::optional<Token> read = unseal(text, "key");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->person, token.person);
    EXPECT_EQ(read->session, token.session);
    EXPECT_EQ(read->request, token.request);
    EXPECT_EQ(read->digest, token.digest);
    EXPECT_EQ(read->expires_at, token.expires_at);
    EXPECT_FALSE(unseal(text, "another"));
    EXPECT_FALSE(unseal("", "key"));
    for (std::size_t i = 0; i < text.size(); i += 7) {
        std::string changed = text;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(unseal(changed, "key")) << i;
    }
}

/// The end of a browser: opens what encrypt() sealed, by the standard's own words.
std::string opened(const std::string& body, const KeyPair& browser, const std::string& auth) {
    using namespace std::string_view_literals;
    const auto mac = [](std::string_view key, std::initializer_list<std::string_view> parts) {
        return std::string(as_text(hmac_sha256(key, parts)));
    };
    const std::string from = body.substr(21, 65);
    const std::string ikm = mac(mac(auth, {*browser.shared_secret(from)}),
                                {"WebPush: info\0"sv, browser.public_point(), from, "\1"sv});
    const std::string prk = mac(body.substr(0, 16), {ikm});
    const std::string key = mac(prk, {"Content-Encoding: aes128gcm\0\1"sv}).substr(0, 16);
    const std::string nonce = mac(prk, {"Content-Encoding: nonce\0\1"sv}).substr(0, 12);
    const std::string sealed = body.substr(86, body.size() - 86 - 16);
    std::string tag = body.substr(body.size() - 16);
    std::string plain(sealed.size(), '\0');
    int size = 0;
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nullptr,
                       reinterpret_cast<const unsigned char*>(key.data()),
                       reinterpret_cast<const unsigned char*>(nonce.data()));
    EVP_DecryptUpdate(context, reinterpret_cast<unsigned char*>(plain.data()), &size,
                      reinterpret_cast<const unsigned char*>(sealed.data()),
                      static_cast<int>(sealed.size()));
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, tag.data());
    unsigned char rest[16];
    const bool is_whole = EVP_DecryptFinal_ex(context, rest, &size) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_whole) return "cannot be opened";
    return plain.substr(0, plain.find_last_not_of('\0'));
}

class PushTest : public service::test::StoreTest {
  protected:
    PushTest() : StoreTest({"push"}) {
        add_person("ann");
        add_person("ben");
        add_person("olga", store::Role::auditor);
        PushChannel::Options options;
        options.token_key = "key";
        options.base_url = "https://gate.example";
        auto post = [this](const Call& call) -> Result<int> {
            calls_.push_back(call);
            if (auto meanwhile = std::exchange(hand_over_, nullptr)) meanwhile();
            if (statuses_.empty()) return 201;
            const int status = statuses_.front();
            statuses_.erase(statuses_.begin());
            if (status == 0) return Error{ErrorCode::unavailable, "nobody there"};
            return status;
        };
        auto offload = [](std::move_only_function<void()> work,
                          std::move_only_function<void()> then) {
            work();
            then();
        };
        std::vector<std::unique_ptr<Channel>> channels;
        auto channel = std::make_unique<PushChannel>(*store_, clock_, offload, post, options);
        channel_ = channel.get();
        channels.push_back(std::move(channel));
        worker_ = std::make_unique<OutboxWorker>(*store_, clock_, std::move(channels));
    }
    /// Signs in for an hour, and asks to be told there.
    store::PushSubscription subscribe(const std::string& name) {
        store::Session session;
        session.id = SessionId::fresh(start);
        session.hash = std::string(as_text(sha256(session.id.text())));
        session.principal = id_of(name);
        session.created_at = start;
        session.expires_at = start + 3'600'000;
        store::PushSubscription subscription;
        subscription.session = session.id;
        subscription.id = PushSubscriptionId::fresh(start);
        subscription.principal = id_of(name);
        subscription.endpoint = "https://push.example.com/" + name;
        subscription.public_key = browser_.public_point();
        subscription.secret = secret;
        subscription.name = "phone";
        subscription.created_at = start;
        get([&](store::Transaction& tx) -> Result<bool> {
            if (Result<void> ok = tx.save_session(session); !ok) return ok.error();
            if (Result<void> ok = tx.save_push(subscription); !ok) return ok.error();
            return true;
        });
        return subscription;
    }
    void look() {
        worker_->poke();
        for (int i = 0; i < 12; ++i) (void)rows();
    }
    std::vector<store::OutboxRow> rows() {
        return get([](store::Transaction& tx) {
            return tx.outbox_due(Timestamp{9'000'000'000'000}, 1000,
                                 [](const auto&) { return true; });
        });
    }
    std::size_t subscriptions() {
        return get([](store::Transaction& tx) { return tx.push_subscriptions(std::nullopt); })
            .size();
    }
    json::value read(const Call& call) { return parsed(opened(call.body, browser_, secret)); }

    ManualClock clock_{start};
    KeyPair browser_ = KeyPair::generate();
    std::vector<Call> calls_;
    std::vector<int> statuses_;
    std::function<void()> hand_over_;  ///< what happens while the first message is on its way
    PushChannel* channel_ = nullptr;
    std::unique_ptr<OutboxWorker> worker_;
};

TEST_F(PushTest, without_a_subscription_creating_writes_nothing) {
    submitted();
    EXPECT_TRUE(rows().empty());
    subscribe("ann");
    submitted();
    EXPECT_EQ(rows().size(), 1u);
}

TEST_F(PushTest, H8_tells_who_may_decide_in_words_that_only_the_browser_reads) {
    const store::PushSubscription ann = subscribe("ann");
    subscribe("olga");
    const RequestPtr request = submitted();
    look();
    ASSERT_EQ(calls_.size(), 1u) << "an auditor decides nothing";
    EXPECT_EQ(calls_[0].url, "https://push.example.com/ann");
    const json::value message = read(calls_[0]);
    EXPECT_EQ(message.at("web_push").as_int64(), 8030);
    EXPECT_EQ(message.at("notification").at("tag").as_string(), request->id.text());
    EXPECT_EQ(message.at("notification").at("navigate").as_string(),
              "https://gate.example/r/" + request->id.text());
    EXPECT_EQ(message.at("holdpoint").at("digest").as_string(), request->digest);
    const std::optional<Token> token =
        unseal(std::string(message.at("holdpoint").at("token").as_string()), "key");
    ASSERT_TRUE(token);
    EXPECT_EQ(token->person, id_of("ann"));
    EXPECT_EQ(token->session, ann.session);
    EXPECT_EQ(token->request, request->id);
    EXPECT_TRUE(rows().empty());
}

TEST_F(PushTest, nobody_is_told_after_the_session_has_ended) {
    const store::PushSubscription ann = subscribe("ann");
    core::Proposal patient = proposal();
    patient.timeout_ms = 7'200'000;
    const RequestPtr request = submitted(patient);
    clock_.advance(3'600'000);
    look();
    EXPECT_TRUE(calls_.empty());
    EXPECT_TRUE(rows().empty()) << "and nothing is tried again";
    clock_.advance(-3'600'000);
    get([&](store::Transaction& tx) -> Result<bool> {
        if (Result<void> ok = tx.drop_sessions_of(id_of("ann")); !ok) return ok.error();
        return true;
    });
    submitted();
    look();
    EXPECT_TRUE(calls_.empty());
}

TEST_F(PushTest, high_risk_has_no_buttons) {
    const store::PushSubscription ann = subscribe("ann");
    core::Request request = *submitted();
    for (const auto& [risk, has_token] :
         {std::pair{core::RiskLevel::low, true}, std::pair{core::RiskLevel::medium, true},
          std::pair{core::RiskLevel::high, false}, std::pair{core::RiskLevel::critical, false}}) {
        request.risk = risk;
        const json::value message =
            parsed(channel_->message(core::EventKind::requested, request, ann, 1));
        EXPECT_EQ(message.at("holdpoint").at("token").is_string(), has_token) << to_string(risk);
    }
    request.risk = core::RiskLevel::low;
    request.requirement.confirm_required = true;
    EXPECT_TRUE(parsed(channel_->message(core::EventKind::requested, request, ann, 1))
                    .at("holdpoint")
                    .at("token")
                    .is_null());
}

TEST_F(PushTest, a_browser_that_changes_hands_while_a_message_is_sent_stays_with_its_new_owner) {
    const store::PushSubscription ann = subscribe("ann");
    const store::PushSubscription other = subscribe("ben");
    store::PushSubscription taken = ann;
    taken.principal = other.principal;
    taken.session = other.session;
    hand_over_ = [this, taken] {
        store_->run([taken](store::Transaction& tx) { return tx.save_push(taken); },
                    [](const Result<void>&) {});
    };
    submitted();
    look();
    const auto found = get([&](store::Transaction& tx) { return tx.find_push(ann.id); });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->principal, id_of("ben"));
    EXPECT_EQ(found->session, other.session);
}

TEST_F(PushTest, a_subscription_that_is_gone_is_dropped) {
    for (const int status : {404, 410}) {
        subscribe("ann");
        statuses_ = {status};
        submitted();
        look();
        EXPECT_EQ(subscriptions(), 0u);
        EXPECT_TRUE(rows().empty());
    }
}

TEST_F(PushTest, one_who_cannot_be_reached_is_tried_again_and_the_others_are_not) {
    subscribe("ann");
    subscribe("ben");
    statuses_ = {0, 201};
    submitted();
    look();
    ASSERT_EQ(calls_.size(), 2u);
    ASSERT_EQ(rows().size(), 1u);
    EXPECT_EQ(rows()[0].attempts, 1);
    clock_.advance(1000);
    look();
    ASSERT_EQ(calls_.size(), 3u);
    EXPECT_EQ(calls_[2].url, calls_[0].url);
    EXPECT_TRUE(rows().empty());
    EXPECT_EQ(subscriptions(), 2u);
}

TEST_F(PushTest, a_message_that_the_service_refuses_is_not_sent_again) {
    subscribe("ann");
    statuses_ = {413};
    submitted();
    look();
    EXPECT_TRUE(rows().empty());
    EXPECT_EQ(subscriptions(), 1u);
}

TEST_F(PushTest, what_is_settled_meanwhile_is_told_as_settled_only) {
    subscribe("ann");
    const RequestId id = submitted()->id;
    ASSERT_FALSE(decide_now(id, core::DecisionKind::approve, person("ben"))->refusal);
    clock_.advance(2000);
    look();
    ASSERT_EQ(calls_.size(), 1u);
    const json::value message = read(calls_[0]);
    EXPECT_EQ(message.at("holdpoint").at("outcome").as_string(), "approved");
    EXPECT_TRUE(message.at("holdpoint").at("token").is_null());
    EXPECT_TRUE(message.at("notification").at("silent").as_bool());
}

TEST_F(PushTest, says_who_sends_as_the_services_want_it) {
    subscribe("ann");
    submitted();
    look();
    ASSERT_EQ(calls_.size(), 1u);
    std::map<std::string, std::string> headers;
    for (const auto& [name, value] : calls_[0].headers) headers[name] = value;
    EXPECT_EQ(headers["Content-Encoding"], "aes128gcm");
    EXPECT_EQ(headers["Urgency"], "high");
    EXPECT_EQ(headers["Topic"].size(), 26u);
    EXPECT_GT(std::stoi(headers["TTL"]), 0);
    const std::string& vapid = headers["Authorization"];
    ASSERT_TRUE(vapid.starts_with("vapid t="));
    const std::string token = vapid.substr(8, vapid.find(',') - 8);
    const std::size_t first = token.find('.'), second = token.rfind('.');
    const json::value claims = parsed(bytes(token.substr(first + 1, second - first - 1)));
    EXPECT_EQ(claims.at("aud").as_string(), "https://push.example.com");
    EXPECT_EQ(claims.at("sub").as_string(), "https://gate.example");
    EXPECT_LE(claims.at("exp").as_int64(), start.ms / 1000 + 86'400);
    EXPECT_EQ(bytes(token.substr(second + 1)).size(), 64u);
}

}  // namespace
}  // namespace holdpoint::notify::push
