#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace holdpoint::auth {

/// A fresh secret: its text is shown once, its hash is stored.
struct Secret {
    std::string text;
    std::string hash;  ///< SHA-256 of the text, 32 bytes
    std::string hint;  ///< the first characters, to recognise it in a list
};

/// `hp_<role>_` and 256 random bits in base64url.
Secret new_key(store::Role role);
/// From 0 up to but without 1, each as likely as the next.
double random_share();

/// 256 random bits for a session or a sign-in link.
Secret new_token();

std::string hash_of(std::string_view secret_text);

/// Whether a text has the form of one of our keys; anything else is not looked up.
bool looks_like_key(std::string_view text);

/// argon2id. Slow (tens of milliseconds) and hungry (64 MiB): call it on the blocking pool.
Result<std::string> hash_password(const std::string& password);
bool is_password(const std::string& hash, const std::string& password);
/// Takes as long as is_password() with a real hash, so that unknown names cannot be told apart.
void waste_a_password_check(const std::string& password);

/// Constant time for texts of one length.
bool equal_secret(std::string_view a, std::string_view b);

}  // namespace holdpoint::auth
