#include "base/sha256.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdpoint {
namespace {

std::span<const unsigned char> bytes_of(std::string_view text) {
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

TEST(Sha256, GivesTheDigestsOfTheStandard) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfPartsIsThatOfTheWhole) {
    EXPECT_EQ(sha256({"domain\n", "", "body"}), sha256("domain\nbody"));
    EXPECT_EQ(sha256({"a", "bc"}), sha256("abc"));
    EXPECT_EQ(sha256({}), sha256(""));
}

TEST(Sha256, WorksOnSeveralThreadsAtOnce) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
            for (int i = 0; i < 1'000; ++i) ASSERT_EQ(sha256({"a", "b", "c"}), sha256("abc"));
        });
    }
}

TEST(Hex, IsLowerCaseWithLeadingZeros) {
    const unsigned char bytes[] = {0x00, 0x0F, 0xA0, 0xFF};
    EXPECT_EQ(hex(bytes), "000fa0ff");
}

TEST(Base64Url, HasNoPaddingAndNoCharacterThatUrlsEscape) {
    EXPECT_EQ(base64url({}), "");
    EXPECT_EQ(base64url(bytes_of("f")), "Zg");
    EXPECT_EQ(base64url(bytes_of("fo")), "Zm8");
    EXPECT_EQ(base64url(bytes_of("foo")), "Zm9v");
    EXPECT_EQ(base64url(bytes_of("foob")), "Zm9vYg");
    EXPECT_EQ(base64url(bytes_of("fooba")), "Zm9vYmE");
    EXPECT_EQ(base64url(bytes_of("foobar")), "Zm9vYmFy");
    EXPECT_EQ(base64url(bytes_of("\xFB\xFF\xBF")), "-_-_");
}

TEST(Base64Url, IsReadBackInItsOneSpelling) {
    for (const char* text : {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\xFB\xFF\xBF"})
        EXPECT_EQ(from_base64url(base64url_of(text)), text);
    for (const char* wrong : {"Z", "Zg==", "Zh", "Zm9", "+_-_", "Zm 9", "Zm9vY", "Zm9v\n"})
        EXPECT_FALSE(from_base64url(wrong)) << wrong;
}

TEST(Hmac, IsThatOfTheStandard) {
    // RFC 4231, cases 1, 2 and 6.
    EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), {"Hi ", "There"})),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256("Jefe", {"what do ya want ", "for nothing?"})),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                              {"Test Using Larger Than Block-Size Key - Hash Key First"})),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace holdpoint
