#include "api/http/connection.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>

#include "api/http/loop.h"
#include "api/http/response_writer.h"
#include "base/assert.h"

namespace holdpoint::http {

namespace {

constexpr std::size_t pending_bytes_max = 64 * 1024;
/// Answers to pipelined requests are gathered up to this size before they are sent.
constexpr std::size_t gathered_bytes_max = 64 * 1024;
constexpr int reads_per_event_max = 8;

}  // namespace

Connection::Connection(Loop& loop, Transport transport, Peer& peer)
    : loop_(&loop), peer_(&peer), transport_(std::move(transport)) {}

void Connection::start() {
    set_phase(Phase::head);
    wait_readable();
}

void Connection::refuse() {
    Response response = loop_->error_response(503, "unavailable", "too many connections");
    response.headers.emplace_back("Retry-After", "1");
    must_close_ = true;
    must_linger_ = true;
    write_response(response, false);
    settle();
}

// --- reading ------------------------------------------------------------------------------------

bool Connection::may_process() const {
    return !exchange_ && !stream_ && !must_close_ && !is_closed_ && queued() < gathered_bytes_max;
}

std::size_t Connection::room_for_pending() const {
    return pending_ ? pending_bytes_max - std::min(pending_bytes_max, pending_->size())
                    : pending_bytes_max;
}

void Connection::on_readable() {
    const ConnectionPtr self(this);
    if (is_lingering_) return drain();
    for (int reads = 0; reads < reads_per_event_max || transport_.has_buffered(); ++reads) {
        const bool is_direct = may_process() && !pending_;
        std::span<char> into = loop_->read_buffer();
        if (!is_direct && !stream_) into = into.first(std::min(into.size(), room_for_pending()));
        if (into.empty()) break;

        const IoResult got = transport_.read(into);
        if (got.kind == IoResult::Kind::failed) return close();
        if (got.kind == IoResult::Kind::closed) {
            on_peer_closed();
            break;
        }
        if (got.kind == IoResult::Kind::wait_write) wait_writable();
        if (got.kind != IoResult::Kind::done) break;

        loop_->statistics().bytes_in += got.bytes;
        const std::string_view bytes(into.data(), got.bytes);
        if (is_direct) {
            process(bytes);
        } else if (!stream_ && !must_close_) {
            keep(bytes);
        } else {
            must_linger_ = must_linger_ || must_close_;
        }
        if (is_closed_) return;
        // A short read emptied a plain socket; TLS says so itself.
        if (!transport_.is_tls() && got.bytes < into.size()) break;
    }
    settle();
}

void Connection::on_peer_closed() {
    is_peer_closed_ = true;
    if (stream_) return close();
    if (exchange_) exchange_->abandon();
}

/// Handles bytes that were waiting for their turn, or that TLS had decrypted already.
void Connection::resume() {
    is_resume_posted_ = false;
    if (is_closed_) return;
    if (!pending_) return is_peer_closed_ ? settle() : on_readable();
    if (may_process()) {
        const std::unique_ptr<std::string> bytes = std::move(pending_);
        process(*bytes);
    }
    settle();
}

void Connection::process(std::string_view bytes) {
    is_processing_ = true;
    std::size_t handled = 0;
    while (!bytes.empty() && may_process() && handled < loop_->options().pipelined_max) {
        if (!process_one(bytes)) break;
        ++handled;
    }
    is_processing_ = false;
    if (is_closed_ || bytes.empty()) return;
    if (must_close_) {
        must_linger_ = true;
    } else {
        keep(bytes);
    }
}

/// Reads on and, once a request is complete, hands it over. False if it is not.
bool Connection::process_one(std::string_view& bytes) {
    if (!reader_) reader_ = loop_->take_reader();
    bytes.remove_prefix(reader_->put(bytes));
    switch (reader_->status()) {
        case RequestReader::Status::need_more:
            if (!is_trusted_ && !book_unfinished()) {
                fail(503, "unavailable", "too many calls are on their way");
                return false;
            }
            set_phase(reader_->is_head_done() ? Phase::body : Phase::head);
            if (reader_->is_head_done() && reader_->take_expectation()) {
                out_.append(ResponseWriter::interim);
            }
            return false;
        case RequestReader::Status::failed: {
            const ReadError error = reader_->error();
            fail(error.status, error.code, error.message);
            return false;
        }
        case RequestReader::Status::complete:
            dispatch();
            return true;
    }
    return false;
}

void Connection::dispatch() {
    Request request = reader_->take();
    request.peer = peer_->first;
    request.is_tls = transport_.is_tls();
    must_close_ = !reader_->is_keep_alive();
    is_http_1_0_ = reader_->is_http_1_0();
    is_head_request_ = request.method == "HEAD";
    release_reader();
    phase_ = Phase::idle;  // the deadline of the head no longer applies; settle() sets the next
    ++loop_->statistics().requests;

    auto exchange = std::make_shared<ExchangeHandle>(ConnectionPtr(this), loop_->io());
    exchange_ = exchange.get();
    call_handler(std::move(request), std::move(exchange));
    if (is_closed_ || !exchange_) return;
    is_parked_ = true;
    ++loop_->statistics().parked;
}

/// The last catch of the session: the exchange, dropped on the way here, has answered 500.
void Connection::call_handler(Request request, std::shared_ptr<Exchange> exchange) {
    try {
        loop_->handler()(std::move(request), std::move(exchange));
    } catch (const std::exception& error) {
        spdlog::error("http: a request handler threw: {}", error.what());
    } catch (...) {
        spdlog::error("http: a request handler threw something unknown");
    }
}

void Connection::keep(std::string_view bytes) {
    if (!pending_) pending_ = std::make_unique<std::string>();
    pending_->append(bytes);
}

/// False if strangers hold too much already. Most calls come whole and never get here.
bool Connection::book_unfinished() {
    const auto held = static_cast<std::uint32_t>(reader_->held());
    return loop_->book(std::exchange(booked_, held), held);
}

void Connection::release_reader() {
    loop_->book(std::exchange(booked_, 0), 0);
    if (reader_) loop_->give_back(std::move(reader_));
}

/// After a fault in the framing nobody knows where the next request begins: answer and close.
void Connection::fail(int status, std::string_view code, std::string_view message) {
    ++loop_->statistics().errors;
    release_reader();
    pending_.reset();
    must_close_ = true;
    must_linger_ = true;
    is_head_request_ = false;
    Response response = loop_->error_response(status, code, message);
    if (status == 503) response.headers.emplace_back("Retry-After", "1");
    write_response(response, false);
}

// --- answering ----------------------------------------------------------------------------------

/// False if another answer had to be sent instead.
bool Connection::write_response(const Response& response, bool is_stream) {
    if (out_.capacity() < 64) out_ = loop_->take_buffer();
    WriteOptions options;
    options.is_head_request = is_head_request_;
    options.is_http_1_0 = is_http_1_0_;
    options.is_last = must_close_;
    if (is_stream) options.framing = is_chunked_ ? Framing::chunked : Framing::to_end;
    if (loop_->writer().write(out_, response, options)) return true;
    spdlog::error("http: refused to send a response header with control characters");
    options.framing = Framing::length;
    options.is_last = must_close_ = true;
    const Response instead = loop_->error_response(500, "internal", "the answer was malformed");
    const bool is_written = loop_->writer().write(out_, instead, options);
    HOLDPOINT_ASSERT(is_written);
    return false;
}

void Connection::end_parking() {
    exchange_ = nullptr;
    if (is_parked_) --loop_->statistics().parked;
    is_parked_ = false;
}

void Connection::answer(Response response) {
    end_parking();
    if (loop_->is_stopping() || (is_peer_closed_ && !pending_)) must_close_ = true;
    write_response(response, false);
    if (!is_processing_) settle();
}

void Connection::drop_exchange() {
    if (is_peer_closed_) {
        end_parking();
        close();
        return;
    }
    answer(loop_->error_response(500, "internal", "the request was not answered"));
}

std::shared_ptr<Stream> Connection::start_stream(Response head) {
    end_parking();
    must_close_ = true;
    is_chunked_ = !is_http_1_0_;
    auto stream = std::make_shared<StreamHandle>(ConnectionPtr(this), loop_->io());
    const bool is_open = write_response(head, true) && !is_head_request_;
    if (!is_open) {
        stream->detach(false);
    } else {
        stream_ = stream.get();
        ++loop_->statistics().streams;
        if (loop_->is_stopping() || is_peer_closed_) stream->close();
    }
    if (!is_processing_) settle();
    return stream;
}

void Connection::send(std::string_view bytes) {
    if (bytes.empty()) return;
    // Asked before it is added to: one message, however long, reaches a reader that keeps up.
    const std::size_t most = loop_->options().stream_bytes_max;
    if (queued() > most && flush() && queued() > most) close();
    if (is_closed_) return;
    if (out_.capacity() < 64) out_ = loop_->take_buffer();
    if (is_chunked_) {
        ResponseWriter::write_chunk(out_, bytes);
    } else {
        out_.append(bytes);
    }
    if (!is_processing_) settle();
}

void Connection::end_stream() {
    if (!stream_) return;
    stream_ = nullptr;
    --loop_->statistics().streams;
}

void Connection::close_stream() {
    end_stream();
    if (is_chunked_) out_.append(ResponseWriter::last_chunk);
    if (!is_processing_) settle();
}

// --- waiting ------------------------------------------------------------------------------------

/// Sends what can be sent, then decides what this connection waits for.
void Connection::settle() {
    if (is_closed_ || is_lingering_) return;
    if (!flush()) return;
    if (queued() > 0) return wait_for_output();
    if (exchange_ || stream_) {
        set_phase(Phase::none);
        if (!is_peer_closed_ && room_for_pending() > 0) wait_readable();
        return;
    }
    if (must_close_) return finish();
    if (pending_ || transport_.has_buffered()) return post_resume();
    if (is_peer_closed_) return close();
    if (!reader_ && phase_ != Phase::head) {
        if (loop_->is_stopping()) return close();
        set_phase(Phase::idle);
    }
    wait_readable();
}

/// False if the connection broke and is closed now.
bool Connection::flush() {
    bool has_progress = false;
    while (queued() > 0) {
        const IoResult put = transport_.write(std::string_view(out_).substr(sent_));
        if (put.kind == IoResult::Kind::closed || put.kind == IoResult::Kind::failed) {
            close();
            return false;
        }
        wants_read_to_write_ = put.kind == IoResult::Kind::wait_read;
        if (put.kind != IoResult::Kind::done) break;
        sent_ += put.bytes;
        loop_->statistics().bytes_out += put.bytes;
        has_progress = true;
    }
    if (has_progress && phase_ == Phase::write) loop_->arm(*this, loop_->options().write_timeout);
    if (queued() == 0) {
        sent_ = 0;
        if (out_.capacity() > 0) loop_->give_back(std::exchange(out_, std::string()));
    } else if (sent_ >= gathered_bytes_max) {
        out_.erase(0, std::exchange(sent_, 0));
    }
    return true;
}

void Connection::wait_for_output() {
    set_phase(Phase::write);
    if (wants_read_to_write_) {
        wait_readable();
    } else {
        wait_writable();
    }
}

void Connection::wait_readable() {
    is_waiting_readable_ = true;
    update_interest();
}

void Connection::wait_writable() {
    is_waiting_writable_ = true;
    update_interest();
}

/// Most connections wait for input before and after every event, so that nothing is to be told.
void Connection::update_interest() {
    if (is_in_event_ || is_closed_) return;
    const auto mask = [](bool is_readable, bool is_writable) -> std::uint32_t {
        return (is_readable ? EPOLLIN : 0U) | (is_writable ? EPOLLOUT : 0U);
    };
    loop_->poller().change(transport_.socket(), *this,
                           mask(is_polled_readable_, is_polled_writable_),
                           mask(is_waiting_readable_, is_waiting_writable_));
    is_polled_readable_ = is_waiting_readable_;
    is_polled_writable_ = is_waiting_writable_;
}

void Connection::on_ready(std::uint32_t events) {
    const ConnectionPtr self(this);
    is_in_event_ = true;
    // What broke is told to whoever waits for anything: reading or writing it shows how.
    const bool is_broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    const bool is_readable = is_broken || (events & EPOLLIN) != 0;
    const bool is_writable = is_broken || (events & EPOLLOUT) != 0;
    const bool wants_read = is_waiting_readable_ && is_readable;
    const bool wants_write = is_waiting_writable_ && is_writable;
    if (wants_read) is_waiting_readable_ = false;
    if (wants_write) is_waiting_writable_ = false;
    if (wants_read) on_readable();
    if (wants_write && !is_closed_) on_writable();
    is_in_event_ = false;
    update_interest();
}

void Connection::on_writable() {
    // TLS may have needed to write before it could read on; then no output of ours is waiting.
    if (queued() == 0 && transport_.is_tls() && !is_lingering_) return on_readable();
    settle();
}

void Connection::post_resume() {
    if (is_resume_posted_) return;
    is_resume_posted_ = true;
    boost::asio::post(loop_->io().get_executor(), [self = ConnectionPtr(this)] { self->resume(); });
}

void Connection::set_phase(Phase phase) {
    // Head, body and stalled output are timed from their beginning, not from the last byte.
    if (phase == phase_ && phase != Phase::idle) return;
    phase_ = phase;
    const Options& options = loop_->options();
    switch (phase) {
        case Phase::none:
            return loop_->disarm(*this);
        case Phase::idle:
            return loop_->arm(*this, options.idle_timeout);
        case Phase::head:
            return loop_->arm(*this, options.head_timeout);
        case Phase::body:
            return loop_->arm(*this, options.body_timeout);
        case Phase::write:
            return loop_->arm(*this, options.write_timeout);
        case Phase::linger:
            return loop_->arm(*this, options.linger_timeout);
    }
}

void Connection::expire() {
    const ConnectionPtr self(this);
    const bool is_slow_request = phase_ == Phase::head || phase_ == Phase::body;
    phase_ = Phase::none;
    if (!is_slow_request || !reader_) return close();
    fail(408, "timeout", "the request took too long to arrive");
    settle();
}

// --- closing ------------------------------------------------------------------------------------

void Connection::wind_down() {
    const ConnectionPtr self(this);
    if (StreamHandle* stream = stream_) {
        close_stream();
        stream->detach(false);
        return;
    }
    // A connection that has not begun a request is idle, even before its first.
    if (phase_ == Phase::head && !reader_) phase_ = Phase::idle;
    if (!is_processing_) settle();
}

/// Closing a socket with unread input resets it, and the reset can overtake the answer. So the
/// client gets a moment to read it, and what it still sends is read past.
void Connection::finish() {
    transport_.shutdown_write();
    if (!must_linger_ || is_peer_closed_) return close();
    is_lingering_ = true;
    pending_.reset();
    release_reader();
    set_phase(Phase::linger);
    wait_readable();
}

void Connection::drain() {
    for (int reads = 0; reads < reads_per_event_max; ++reads) {
        const IoResult got = transport_.discard(loop_->read_buffer());
        if (got.kind == IoResult::Kind::closed || got.kind == IoResult::Kind::failed)
            return close();
        if (got.kind != IoResult::Kind::done) break;
    }
    wait_readable();
}

void Connection::close(bool is_silent) {
    if (is_closed_) return;
    const ConnectionPtr self(this);
    is_closed_ = true;
    ExchangeHandle* const exchange = exchange_;
    StreamHandle* const stream = stream_;
    end_parking();
    end_stream();
    release_reader();
    pending_.reset();
    out_ = std::string();
    sent_ = 0;
    loop_->poller().forget(*this);
    transport_.close();
    loop_->disarm(*this);
    loop_->remove(*this);
    loop_ = nullptr;
    peer_ = nullptr;
    if (stream) stream->detach(is_silent);
    if (exchange) {
        exchange->detach();
        if (!is_silent) exchange->abandon();
    }
}

// --- handles ------------------------------------------------------------------------------------

ExchangeHandle::~ExchangeHandle() {
    if (const ConnectionPtr connection = std::move(connection_)) connection->drop_exchange();
}

void ExchangeHandle::respond(Response response) {
    const ConnectionPtr connection = std::move(connection_);
    if (!connection) return;
    abandoned_ = nullptr;
    connection->answer(std::move(response));
}

std::shared_ptr<Stream> ExchangeHandle::start_stream(Response head) {
    const ConnectionPtr connection = std::move(connection_);
    abandoned_ = nullptr;
    if (!connection) return std::make_shared<StreamHandle>(nullptr, *io_);
    return connection->start_stream(std::move(head));
}

void ExchangeHandle::trust() {
    if (connection_) connection_->trust();
}

void ExchangeHandle::on_abandon(std::move_only_function<void()> callback) {
    abandoned_ = std::move(callback);
    if (!is_abandoned_) return;
    // The client left while the handler was busy elsewhere: tell it, but not from inside its call.
    boost::asio::post(io_->get_executor(), [weak = weak_from_this()] {
        if (const auto exchange = weak.lock()) exchange->abandon();
    });
}

void ExchangeHandle::abandon() {
    is_abandoned_ = true;
    if (auto callback = std::exchange(abandoned_, nullptr)) callback();
}

StreamHandle::~StreamHandle() {
    if (const ConnectionPtr connection = std::move(connection_)) connection->close_stream();
}

void StreamHandle::send(std::string_view bytes) {
    if (const ConnectionPtr connection = connection_) connection->send(bytes);
}

void StreamHandle::close() {
    const ConnectionPtr connection = std::move(connection_);
    if (!connection) return;
    post_closed();
    connection->close_stream();
}

void StreamHandle::on_close(std::move_only_function<void()> callback) {
    closed_ = std::move(callback);
    if (!connection_) post_closed();
}

std::size_t StreamHandle::queued() const { return connection_ ? connection_->queued() : 0; }

void StreamHandle::detach(bool is_silent) {
    connection_.reset();
    if (is_silent) {
        closed_ = nullptr;
    } else {
        post_closed();
    }
}

void StreamHandle::post_closed() {
    if (!closed_) return;
    boost::asio::post(io_->get_executor(),
                      [callback = std::exchange(closed_, nullptr)]() mutable { callback(); });
}

}  // namespace holdpoint::http
