#pragma once

#include <string>

#include "api/auth/challenges.h"
#include "core/request.h"
#include "service/webauthn/ceremony.h"
#include "store/store.h"

namespace holdpoint::api {

/// What a challenge for this person, this request as it stands and this very decision is bound to.
auth::Challenges::Purpose to_decide(const PrincipalId& person, const RequestId& id,
                                    const std::string& digest,
                                    const core::DecisionCommand& command);

/// What is kept of a signature, so that anybody can check later who signed what.
core::JsonText proof_of(const store::Passkey& passkey, const webauthn::Assertion& assertion);

}  // namespace holdpoint::api
