#if os(Linux) || os(Android)
import Errand
import ErrandCurlTransport
import Foundation
import Synchronization

/// Collects bodies itself and throws the plain error of the stream, without the head and the bytes that came.
struct EvidenceLost: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var streaming = options
        streaming.delivery = .stream
        var response = try await inner.send(request, options: streaming)
        guard options.collectsBody(ofStatus: response.status) else { return response }
        do { response.body = HTTPBody(try await response.body.collect(upTo: options.maximumBodyBytes)) } catch {
            throw ErrandError((error as? ErrandError)?.code ?? .connectionLost, "the body didn't arrive")
        }
        return response
    }
}

/// Collects bodies itself, and reads all of a body that is too long before it refuses it.
struct LimitBlind: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var streaming = options
        streaming.delivery = .stream
        var response = try await inner.send(request, options: streaming)
        guard options.collectsBody(ofStatus: response.status) else { return response }
        var data = Data()
        do { for try await chunk in response.body { data.append(chunk) } } catch var error as ErrandError {
            response.body = HTTPBody(data)
            error.response = response
            throw error
        }
        if data.count > options.maximumBodyBytes {
            response.body = HTTPBody(data.prefix(options.maximumBodyBytes))
            throw ErrandError(.bodyTooLarge, "the body is too long", response: response)
        }
        response.body = HTTPBody(data)
        return response
    }
}

/// Ends every exchange with a host if one of them is cancelled, because it closes the host's connections.
final class CancelsNeighbors: Transport {
    private let inner = CurlTransport()
    private let running = Mutex<[String: [UUID: Task<HTTPResponse, any Error>]]>([:])

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let (host, id) = (request.host ?? "", UUID())
        let task = Task { [inner] in try await inner.send(request, options: options) }
        running.withLock { $0[host, default: [:]][id] = task }
        defer { running.withLock { $0[host]?[id] = nil } }
        return try await withTaskCancellationHandler {
            do { return try await task.value } catch {
                if error.isCancellation, !Task.isCancelled {
                    throw ErrandError(.connectionLost, "the connection was closed", underlying: error)
                }
                throw error
            }
        } onCancel: {
            let tasks = running.withLock { $0[host] ?? [:] }
            for task in tasks.values { task.cancel() }
        }
    }
}

/// Sends bodies of more than 256 KiB in chunks, although their length is known.
struct ChunksLargeBodies: Transport {
    let inner = CurlTransport()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var request = request
        if let length = request.body.length, length > 256 << 10 {
            let body = request.body
            let type = request.headers[.contentType]
            request.body = .stream(contentType: body.contentType) {
                let chunks = BodyChunks(try body.open())
                return HTTPBody(cancel: chunks.cancel) { try await chunks.next() }
            }
            if let type { request.headers[.contentType] = type }
        }
        return try await inner.send(request, options: options)
    }
}

/// Limits the time between two chunks by a timer that keeps running while the reader doesn't ask for a chunk.
struct ImpatientWithReaders: Transport {
    let inner = CurlTransport()

    private final class Source: HTTPBodySource {
        private let chunks: BodyChunks
        private let options: TransportOptions
        private let last: Mutex<ContinuousClock.Instant>

        init(_ body: HTTPBody, _ options: TransportOptions) {
            (chunks, self.options) = (BodyChunks(body), options)
            last = Mutex(options.time.now)
        }

        func nextChunk() async throws -> Data? {
            let now = options.time.now
            if now > last.withLock({ $0 }).advanced(by: options.timeout) {
                chunks.cancel()
                throw ErrandError(.timedOut, "no chunk for too long")
            }
            let chunk = try await chunks.next()
            last.withLock { $0 = options.time.now }
            return chunk
        }

        func cancel() { chunks.cancel() }
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        if response.body.data == nil {
            response.body = HTTPBody(length: response.body.length, source: Source(response.body, options))
        }
        return response
    }
}

/// Knows only the statuses in a list, and replaces any other status by the first one of its class.
struct KnownStatuses: Transport {
    let inner = CurlTransport()
    private static let known: Set<Int> = Set(200...208).union([226]).union(300...308).union(400...418)
        .union([421, 422, 423, 424, 425, 426, 428, 429, 431, 451]).union(500...508).union([510, 511])

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        if !Self.known.contains(response.status) { response.status = response.status / 100 * 100 }
        return response
    }
}

/// Delivers every stream in pieces of seven bytes.
struct SmallPieces: Transport {
    let inner = CurlTransport()

    private final class Source: HTTPBodySource {
        private let chunks: BodyChunks
        private let kept = Mutex(Data())
        init(_ body: HTTPBody) { chunks = BodyChunks(body) }

        func nextChunk() async throws -> Data? {
            while true {
                if let piece = take() { return piece }
                guard let chunk = try await chunks.next() else { return nil }
                kept.withLock { $0 = chunk }
            }
        }

        private func take() -> Data? {
            kept.withLock { kept in
                if kept.isEmpty { return nil }
                // Large bodies in larger pieces, so they don't take minutes.
                let count = kept.count > 4096 ? 4096 : 7
                defer { kept = Data(kept.dropFirst(count)) }
                return Data(kept.prefix(count))
            }
        }

        func cancel() { chunks.cancel() }
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        if response.body.data == nil {
            response.body = HTTPBody(length: response.body.length, source: Source(response.body))
        }
        return response
    }
}
#endif
