import Errand
import Foundation
import Synchronization

/// Opens after five failures in a row to reach a host, for a second of the agent's time. A cancelled probe doesn't
/// count.
final class RightBreaker: Filter {
    private struct Host {
        var failures = 0
        var end: ContinuousClock.Instant?
    }
    private let hosts = Mutex<[String: Host]>([:])
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (name, now) = (exchange.http.host ?? "", exchange.time.now)
        if let end = hosts.withLock({ $0[name]?.end }), end > now {
            throw ErrandError(.cannotConnect, "the host failed five times in a row")
        }
        do {
            let response = try await next(exchange)
            hosts.withLock { $0[name] = nil }
            return response
        } catch let error where error.reachedNoServer {
            hosts.withLock { hosts in
                if hosts.count > 100 { hosts = [:] }
                var host = hosts[name] ?? Host()
                host.failures += 1
                if host.failures >= 5 { host.end = now.advanced(by: .seconds(1)) }
                hosts[name] = host
            }
            throw error
        }
    }
}

/// Adds the same key to every attempt of a call.
struct KeyPerCall: Filter {
    private static let key = CallKey<String>()
    var stages: FilterStages { [.call, .hop] }
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !exchange.http.method.isSafe, !exchange.http.headers.contains(.idempotencyKey) {
            exchange.http.headers[.idempotencyKey] = exchange.once(Self.key) { UUID().uuidString }
        }
        return try await next(exchange)
    }
}

/// Sends from a child task, which keeps priority, task-local values and cancellation.
struct ChildTaskSend: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        async let response = next(exchange)
        return try await response
    }
}

/// Delivers a stream in pieces of seven bytes, some of them after an empty chunk.
struct SevenBytes: Filter {
    private final class Source: HTTPBodySource {
        private let chunks: BodyChunks
        private let kept = Mutex(Data())
        init(_ body: HTTPBody) { chunks = BodyChunks(body) }

        func nextChunk() async throws -> Data? {
            if let piece = take() { return piece }
            guard let chunk = try await chunks.next() else { return nil }
            kept.withLock { $0 = chunk }
            return take() ?? Data()
        }

        private func take() -> Data? {
            kept.withLock { kept in
                if kept.isEmpty { return nil }
                defer { kept = Data(kept.dropFirst(7)) }
                return Data(kept.prefix(7))
            }
        }

        func cancel() { chunks.cancel() }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        guard response.body.data == nil, response.body.file == nil else { return response }
        response.body = HTTPBody(length: response.body.length, source: Source(response.body))
        return response
    }
}

/// Counts the bytes of a stream. Ends at an empty chunk, which no body delivers.
final class CountedBytes: Filter {
    private let count = Atomic(0)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        guard response.body.data == nil, response.body.file == nil else { return response }
        let chunks = BodyChunks(response.body)
        response.body = HTTPBody(length: response.body.length, cancel: chunks.cancel) { [self] in
            guard let chunk = try await chunks.next(), !chunk.isEmpty else { return nil }
            count.add(chunk.count, ordering: .relaxed)
            return chunk
        }
        return response
    }
}
