import Errand
import ErrandBackoff
import ErrandEssentials
import Synchronization

@usableFromInline final class EventReader {
    private let options: EventOptions
    private let status: EventStreamStatus
    private let begin: @Sendable () -> StreamSession
    private let seen = SeenExchange()
    private var session: StreamSession?
    private var body: HTTPBody.Iterator?
    private var parser: EventParser
    private var lastEventID: String
    private var retry: Duration?
    private var isOver = false
    private var attempts = 0
    private var failures = 0
    /// The number of consecutive attempts that failed to connect, or whose connection ended soon without an event.
    private var silent = 0
    private var opened: ContinuousClock.Instant?

    init(_ options: EventOptions, status: EventStreamStatus, _ begin: @escaping @Sendable () -> StreamSession) {
        (self.options, self.status, self.begin) = (options, status, begin)
        lastEventID = options.lastEventID
        parser = EventParser(limit: options.maximumEventBytes, lastEventID: lastEventID)
    }

    deinit { finish(nil) }

    @usableFromInline
    func ready() throws -> ServerSentEvent? {
        do {
            guard let session, !session.isCancelled, let event = try parser.next() else { return nil }
            received(event, in: session)
            return event
        } catch { throw ended(by: error) }
    }

    private func received(_ event: ServerSentEvent, in session: StreamSession) {
        silent = 0
        session.countElement()
        session.report(event)
        status.keep(lastEventID: parser.lastEventID)
    }

    @usableFromInline
    func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        if isOver { return nil }
        do {
            while true {
                if let session {
                    if session.isCancelled { throw CancellationError() }
                    if let event = try parser.next() {
                        received(event, in: session)
                        return event
                    }
                    status.keep(lastEventID: parser.lastEventID)
                }
                guard var reading = body else {
                    if try await connect() { continue }
                    finish(nil)
                    return nil
                }
                body = nil
                let chunk: Data?
                do { chunk = try await reading.next(isolation: actor) } catch {
                    if try await closed(by: error) { continue }
                    finish(nil)
                    return nil
                }
                if let chunk {
                    try session?.checkUser()
                    session?.count(bytes: chunk.count)
                    parser.push(chunk)
                    body = reading
                } else if try await !closed(by: nil) {
                    finish(nil)
                    return nil
                }
            }
        } catch { throw ended(by: error) }
    }

    private func ended(by error: any Error) -> any Error {
        let resolved = session?.resolved(error) ?? error
        finish(resolved)
        return resolved
    }

    private func finish(_ error: (any Error)?) {
        isOver = true
        body = nil
        // The session is nil in a second reader, which must not affect the first reader.
        guard let session else { return }
        status.keep(lastEventID: parser.lastEventID)
        session.end(error)
        self.session = nil
        status.change(to: .closed(error))
    }

    /// Connects to the server. Returns false if the server's response ends the stream.
    private func connect() async throws -> Bool {
        let session = try start()
        attempts += 1
        status.change(to: .connecting(attempt: attempts))
        guard lastEventID.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw StreamingError(
                .unusableEventID, "the last event ID contains control characters", byte: parser.offset,
                element: max(parser.eventCount, 1))
        }
        let response: HTTPResponse
        do {
            response = try await session.connect([
                EventStreamFilter(lastEventID: lastEventID, silence: options.timeout, seen: seen)
            ])
            do { try EventStreamFilter.check(response) } catch {
                response.body.cancel()
                throw error
            }
        } catch {
            if (error as? any RequestFailure)?.response?.status == 204 { return false }
            failures += 1
            silent += 1
            guard options.reconnection.permits(error), failures <= options.reconnection.maximumFailures else {
                throw error
            }
            try await wait(after: error)
            return true
        }
        if response.status == 204 {
            response.body.cancel()
            return false
        }
        failures = 0
        silent += 1
        opened = seen.time.now
        parser = EventParser(
            limit: options.maximumEventBytes, lastEventID: lastEventID, onComment: options.onComment)
        body = response.body.makeAsyncIterator()
        var head = response
        head.body = .empty
        status.keep(head)
        status.change(to: .open(head))
        return true
    }

    private func start() throws -> StreamSession {
        if let session { return session }
        guard status.claim() else {
            throw StreamingError(.bodyAlreadyRead, "an event stream can have only one reader", byte: 0, element: 1)
        }
        let session = begin()
        self.session = session
        status.keep(session)
        return session
    }

    /// Handles the end of a connection. Returns false if the stream won't connect again.
    private func closed(by error: (any Error)?) async throws -> Bool {
        parser.finish()
        lastEventID = parser.lastEventID
        status.keep(lastEventID: lastEventID)
        retry = parser.reconnectionTime ?? retry
        // Some servers only send comments as heartbeats, so a connection that lasted counts as good even without
        // events.
        if let opened, opened.duration(to: seen.time.now) >= options.reconnection.backoff.maximumDelay {
            silent = min(silent, 1)
        }
        let isAsked = status.takeReconnect()
        if let error, !isAsked || !options.reconnection.isEnabled, !options.reconnection.permits(error) { throw error }
        guard options.reconnection.isEnabled else {
            if let error { throw error }
            return false
        }
        if !seen.isReplayable {
            throw error
                ?? ErrandError(.bodyNotReplayable, "can't reconnect, because the request's body can be read only once")
        }
        if isAsked {
            if Task.isCancelled { throw CancellationError() }
            return true
        }
        try await wait(after: error)
        return true
    }

    private func wait(after error: (any Error)?) async throws {
        let time = seen.time
        var wait = options.reconnection.wait(retry: retry, silent: silent, chance: .random(in: 0...1))
        let headers = (error as? any RequestFailure)?.response?.headers
        if let asked = headers?.retryAfter(from: time.date, upTo: ReconnectionPolicy.maximumRetryAfter) {
            wait = max(wait, asked)
        }
        let instant = time.instant(after: wait)
        status.change(to: .waiting(until: instant, after: error))
        session?.note("reconnecting in \(duration: wait)")
        do {
            if wait > .zero { try await session?.running { try await time.sleep(until: instant) } }
            try Task.checkCancellation()
        } catch {
            guard status.takeReconnect(), !Task.isCancelled else { throw error }
        }
    }
}

/// Makes a request that asks for an event stream (HTML standard, section 9.2.3).
struct EventStreamFilter: Filter {
    let lastEventID: String
    let silence: Duration?
    let seen: SeenExchange

    /// Event streams aren't cached, so the fields that this filter adds needn't be part of cache keys.
    var traits: FilterTraits { [.changesRequest, .outsideCacheKey] }
    var explanation: String { "event stream" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        // The agent's default `Accept` doesn't apply to event streams.
        if !exchange.request.headers.contains(.accept) { exchange.http.headers.set(.accept, "text/event-stream") }
        if !exchange.http.headers.contains(.cacheControl) { exchange.http.headers.set(.cacheControl, "no-cache") }
        if !lastEventID.isEmpty { exchange.http.headers.set(.lastEventID, lastEventID) }
        if let silence { exchange.timeout = silence }
        exchange.delivery = .stream
        seen.keep(exchange)
        exchange.checks.add(ResponseCheck("event stream") { try Self.check($0) })
        return try await next(exchange)
    }

    /// Throws if the response isn't an event stream. The status 204 isn't an error: it ends the stream.
    static func check(_ response: HTTPResponse) throws {
        if response.status == 204 { return }
        guard response.status == 200 else {
            throw ErrandError(
                .unacceptableStatus, "expected status 200, got \(response.status)", response: response)
        }
        guard response.mediaType == "text/event-stream" else {
            throw ErrandError(
                .unacceptableContentType,
                "expected content type text/event-stream, got \(response.mediaType ?? "none")",
                response: response)
        }
    }
}

final class SeenExchange: Sendable {
    private let state = Mutex<(time: (any TimeSource)?, isReplayable: Bool)>((nil, true))

    func keep(_ exchange: Exchange) {
        let isReplayable = exchange.http.body.isReplayable
        state.withLock { $0 = (exchange.time, isReplayable) }
    }

    var time: any TimeSource { state.withLock { $0.time } ?? SystemTimeSource() }
    var isReplayable: Bool { state.withLock { $0.isReplayable } }
}
