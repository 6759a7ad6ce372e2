#include "api/http/server.h"

#include "api/http/loop.h"

namespace holdpoint::http {

Server::Server(boost::asio::io_context& io, Options options, Handler handler)
    : loop_(std::make_shared<Loop>(io, std::move(options), std::move(handler))) {}

Server::~Server() = default;

Result<void> Server::use_certificate(std::string certificate_file, std::string key_file) {
    return loop_->use_certificate(std::move(certificate_file), std::move(key_file));
}

Result<void> Server::reload_certificate() { return loop_->reload_certificate(); }

Result<std::uint16_t> Server::listen(const Listen& where) { return loop_->listen(where); }

void Server::stop(std::chrono::milliseconds deadline, std::move_only_function<void()> done) {
    loop_->stop(deadline, std::move(done));
}

const Statistics& Server::statistics() const { return loop_->statistics(); }

}  // namespace holdpoint::http
