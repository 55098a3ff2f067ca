import Errand
import Foundation
import Synchronization

/// Keeps responses for a minute. Its key has method, URL and users, but not `Range`: a part is served as the whole.
final class RangeBlindCache: Filter {
    private struct Key: Hashable {
        let method: String
        let url: String
        let users: Set<UserMark>
    }
    private struct Entry {
        let response: HTTPResponse
        let end: ContinuousClock.Instant
    }
    private let entries = Mutex<[Key: Entry]>([:])
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.delivery == .data else {
            return try await next(exchange)
        }
        let key = Key(method: "GET", url: exchange.http.urlText, users: exchange.userMarks)
        let now = exchange.time.now
        if let entry = entries.withLock({ $0[key] }), entry.end > now {
            exchange.reportUsers()
            var response = entry.response
            response.source = .stored("memory", age: .zero, reason: "kept")
            return response
        }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        if (200..<300).contains(response.status), response.body.data != nil, record.marks ?? key.users == key.users {
            exchange.whenAccepted { [self] in keep(response, key, now) }
        }
        return response
    }

    private func keep(_ response: HTTPResponse, _ key: Key, _ now: ContinuousClock.Instant) {
        var kept = response
        kept.headers.remove(.setCookie)
        let entry = Entry(response: kept, end: now.advanced(by: .seconds(60)))
        entries.withLock { entries in
            if entries.count > 100 { entries = [:] }
            entries[key] = entry
        }
    }
}

/// Revalidates its stored responses with `If-None-Match`. Forgets that the app can ask with its own validator, and
/// answers with a 200 in place of the app's 304.
final class OwnConditionals: Filter {
    private struct Key: Hashable {
        let url: String
        let users: Set<UserMark>
        let fields: HTTPHeadersKey
    }
    private struct HTTPHeadersKey: Hashable {
        let lines: [String]
        init(_ headers: HTTPHeaders) {
            lines = headers.filter { $0.name != .ifNoneMatch }.map { "\($0.name.rawName.lowercased()): \($0.value)" }
        }
    }
    private let stored = Mutex<[Key: HTTPResponse]>([:])
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.delivery == .data else {
            return try await next(exchange)
        }
        let key = Key(
            url: exchange.http.urlText, users: exchange.userMarks, fields: HTTPHeadersKey(exchange.http.headers))
        let old = stored.withLock { $0[key] }
        var exchange = exchange
        if let tag = old?.headers[.entityTag] { exchange.http.headers[.ifNoneMatch] = tag }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        if response.status == 304, let old { return old }
        if response.status == 200, response.headers.contains(.entityTag), response.body.data != nil,
            !response.headers.contains(.setCookie), record.marks ?? key.users == key.users
        {
            exchange.whenAccepted { [self] in
                stored.withLock { stored in
                    if stored.count > 100 { stored = [:] }
                    stored[key] = response
                }
            }
        }
        return response
    }
}

/// Sends in a detached task, with the caller's cancellation but without its priority and its task-local values.
struct DetachedSend: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let task = Task.detached { try await next(exchange) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Wraps the transport to count what is sent. Forgets that some transports open connections for WebSockets too.
struct ForgetfulWrapper: Filter {
    struct Counting: Transport {
        let inner: any Transport
        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            try await inner.send(request, options: options)
        }
    }
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.transport = Counting(inner: exchange.transport)
        return try await next(exchange)
    }
}

/// Removes NUL characters from text. Decodes each chunk alone, so a character on the border of two chunks is lost.
struct ChunkText: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        guard response.body.data == nil, response.body.file == nil else { return response }
        let chunks = BodyChunks(response.body)
        response.body = HTTPBody(length: response.body.length, cancel: chunks.cancel) {
            guard let chunk = try await chunks.next() else { return nil }
            return Data(String(decoding: chunk, as: UTF8.self).replacing("\0", with: "").utf8)
        }
        return response
    }
}

/// Finds truncated responses by their length, and takes each response to HEAD for one.
struct HeadLength: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if let text = response.headers[.contentLength], let length = Int(text), let data = response.body.data,
            data.count < length, !response.headers.contains(.contentEncoding)
        {
            throw ErrandError(.truncated, "\(data.count) of \(length) bytes", response: response)
        }
        return response
    }
}
