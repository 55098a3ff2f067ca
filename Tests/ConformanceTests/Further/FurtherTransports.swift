#if os(Linux) || os(Android)
import Errand
import ErrandCurlTransport
import Foundation
import Synchronization

// Transports with one mistake each, and correct variants of them.

/// Asks for the rest of a body that breaks off, and appends whatever comes.
struct AppendsRest: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        do { return try await inner.send(request, options: options) } catch let error as ErrandError {
            guard var response = error.response, request.method == .get, response.headers.contains(.acceptRanges),
                let start = response.body.data
            else { throw error }
            var rest = request
            rest.headers[.range] = "bytes=\(start.count)-"
            let end = try await inner.send(rest, options: options)
            response.body = HTTPBody(start + (end.body.data ?? Data()))
            return response
        }
    }
}

/// Limits the announced length of every response, even to HEAD.
struct LengthLimit: Transport {
    let inner = CurlTransport()
    var looksAtMethod = false

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let response = try await inner.send(request, options: options)
        let isHead = looksAtMethod && request.method == .head
        guard !isHead, let text = response.headers[.contentLength], Int64(text) ?? 0 > 1 << 30 else { return response }
        response.body.cancel()
        throw ErrandError(.bodyTooLarge, "the response is too long", response: response)
    }
}

/// Returns responses under the URL without its query.
struct ShortURLs: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let response = try await inner.send(request, options: options)
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false) else { return response }
        parts.query = nil
        guard let url = parts.url else { return response }
        return HTTPResponse(
            url: url, status: response.status, headers: response.headers, body: response.body,
            version: response.version)
    }
}

/// Answers with the last response to any request if a server can't be reached.
final class LastResort: Transport {
    private let inner = CurlTransport()
    private let last = Mutex<HTTPResponse?>(nil)

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        do {
            let response = try await inner.send(request, options: options)
            if response.body.data != nil { last.withLock { $0 = response } }
            return response
        } catch {
            guard let response = last.withLock({ $0 }) else { throw error }
            return response
        }
    }
}

/// Sends at most eight requests at a time. The wrong form frees a slot only after a response, so a failed request keeps
/// its slot.
final class EightAtATime: Transport {
    private struct State {
        var free = 8
        var line: [Int: CheckedContinuation<Bool, Never>] = [:]
        var next = 0
    }
    private let inner = CurlTransport()
    private let state = Mutex(State())
    private let returnsAlways: Bool

    init(returnsAlways: Bool) { self.returnsAlways = returnsAlways }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let known: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.line[number] = turn
                    return nil
                }
                if let known { turn.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.line.removeValue(forKey: number) }?.resume(returning: false)
        }
        guard hasTurn else { throw CancellationError() }
        do {
            try options.checkBeforeSending(request)
            let response = try await inner.send(request, options: options)
            returnTurn()
            return response
        } catch {
            if returnsAlways { returnTurn() }
            throw error
        }
    }

    private func returnTurn() {
        let turn = state.withLock { state in
            guard let first = state.line.keys.min() else {
                state.free += 1
                return nil as CheckedContinuation<Bool, Never>?
            }
            return state.line.removeValue(forKey: first)
        }
        turn?.resume(returning: true)
    }
}

/// Waits between the chunks of a stream, on the agent's clock. The wrong form doesn't pass on a cancellation.
struct SlowStreams: Transport {
    let inner = CurlTransport()
    var passesCancellation = true

    private final class Source: HTTPBodySource {
        private let chunks: BodyChunks
        private let time: any TimeSource
        private let passesCancellation: Bool

        init(_ body: HTTPBody, _ time: any TimeSource, _ passesCancellation: Bool) {
            (chunks, self.time, self.passesCancellation) = (BodyChunks(body), time, passesCancellation)
        }

        func nextChunk() async throws -> Data? {
            guard let chunk = try await chunks.next() else { return nil }
            try await time.sleep(until: time.instant(after: .milliseconds(5)))
            return chunk
        }

        func cancel() { if passesCancellation { chunks.cancel() } }
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        guard response.body.data == nil else { return response }
        let source = Source(response.body, options.time, passesCancellation)
        response.body = HTTPBody(length: response.body.length, source: source)
        return response
    }
}
#endif
