#include "api/http/answers.h"

#include "api/wire/errors.h"
#include "api/wire/request.h"

namespace holdpoint::api {

http::Response render(const Shape& shape,
                      const std::vector<std::shared_ptr<const core::Request>>& requests) {
    http::Response response;
    response.status = shape.status;
    if (shape.is_replay) response.headers.emplace_back("Idempotency-Replayed", "true");
    if (!shape.batch) {
        response.body = wire::to_json(*requests.front());
        if (shape.status == 201)
            response.headers.emplace_back("Location",
                                          "/v1/requests/" + requests.front()->id.text());
        return response;
    }
    response.body = "{\"id\":\"" + shape.batch->text() + "\",\"requests\":[";
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i > 0) response.body += ',';
        wire::append_request(response.body, *requests[i]);
    }
    response.body += "]}";
    if (shape.status == 201)
        response.headers.emplace_back("Location", "/v1/batches/" + shape.batch->text());
    return response;
}

void respond_decided(const CallPtr& call, const Result<service::Decided>& decided) {
    if (!decided) return respond_error(call, decided.error());
    if (decided->refusal)
        return call->exchange->respond(
            wire::to_response(*decided->refusal, decided->request.get()));
    http::Response response = render({}, {decided->request});
    if (decided->is_replay) response.headers.emplace_back("Idempotency-Replayed", "true");
    call->exchange->respond(std::move(response));
}

}  // namespace holdpoint::api
