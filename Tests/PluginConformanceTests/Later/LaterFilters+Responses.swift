import Errand
import ErrandEssentials
import Synchronization

/// Keeps the last status lines for a support screen.
final class LastHeads: Filter {
    private let lines = Mutex<[String]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        lines.withLock { lines in
            lines.append("\(exchange.http.method) \(response.status)")
            if lines.count > 20 { lines.removeFirst() }
        }
        return response
    }

    var all: [String] { lines.withLock { $0 } }
}

/// Counts the bytes of bodies while they're read.
final class BodyMeter: Filter {
    private let bytes = Atomic<Int>(0)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if let data = response.body.data {
            bytes.add(data.count, ordering: .relaxed)
            return response
        }
        let chunks = BodyChunks(response.body)
        response.body = HTTPBody(length: response.body.length, cancel: { chunks.cancel() }) { [weak self] in
            let chunk = try await chunks.next()
            self?.bytes.add(chunk?.count ?? 0, ordering: .relaxed)
            return chunk
        }
        return response
    }
}

/// Shows the last good response of a GET while the server can't be reached, to the users who received it.
final class LastGood: Filter {
    private struct Key: Hashable {
        let url: String
        let fields: [HTTPHeaders.Field]
        let marks: Set<UserMark>
    }
    private struct Kept {
        let status: Int
        let headers: HTTPHeaders
        let body: Data
        let date: Date
    }
    private let kept = Mutex<(entries: [Key: Kept], order: [Key])>(([:], []))
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone else { return try await next(exchange) }
        let (recorded, record) = exchange.recordingUsers()
        let response: HTTPResponse
        do { response = try await next(recorded) } catch let error where error.reachedNoServer && !error.isCancellation
        {
            let key = Key(
                url: exchange.http.urlText, fields: Array(exchange.http.headers), marks: exchange.userMarks)
            guard let found = kept.withLock({ $0.entries[key] }) else { throw error }
            exchange.reportUsers()
            let age = max(0, exchange.time.date.timeIntervalSince(found.date))
            return HTTPResponse(
                to: exchange.http, status: found.status, headers: found.headers, body: HTTPBody(found.body),
                source: .stored("last-good", age: .seconds(age), reason: "no server was reached"))
        }
        record.commit()
        if response.status == 200, let data = response.body.data, data.count < 10_000, let marks = record.marks,
            !response.headers.contains(.setCookie), !response.headers.contains("Vary"), marks == exchange.userMarks,
            !(response.headers[.cacheControl] ?? "").contains("no-store")
        {
            let key = Key(url: exchange.http.urlText, fields: Array(exchange.http.headers), marks: marks)
            let date = exchange.time.date
            exchange.whenAccepted { [self] in
                kept.withLock { kept in
                    if kept.entries.updateValue(
                        Kept(status: 200, headers: response.headers, body: data, date: date), forKey: key) == nil
                    {
                        kept.order.append(key)
                    }
                    while kept.order.count > 20 { kept.entries[kept.order.removeFirst()] = nil }
                }
            }
        }
        return response
    }
}

/// Sends a server's entity tags back to it, and returns the kept body after a 304.
///
/// Mistake: addresses are compared without their case, so `/a` is served for `/A`.
final class TagMemory: Filter {
    private struct Kept {
        let tag: String
        let headers: HTTPHeaders
        let body: Data
    }
    private let kept = Mutex<[String: Kept]>([:])
    var traits: FilterTraits { [.caches, .changesRequest] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, !exchange.http.headers.contains(.ifNoneMatch),
            exchange.userMarks.isEmpty, !exchange.http.headers.contains(where: \.isSensitive)
        else { return try await next(exchange) }
        let key = exchange.http.urlText.lowercased()
        let found = kept.withLock { $0[key] }
        var asked = exchange
        if let found { asked.http.headers[.ifNoneMatch] = found.tag }
        var response = try await next(asked)
        if response.status == 304, let found {
            await exchange.discard(response)
            response = HTTPResponse(
                to: exchange.http, status: 200, headers: found.headers, body: HTTPBody(found.body),
                source: .stored(age: .zero, reason: "not modified"))
            return response
        }
        if response.status == 200, let tag = response.headers[.entityTag], let data = response.body.data {
            let headers = response.headers
            exchange.whenAccepted { [self] in
                kept.withLock { kept in
                    if kept.count > 50 { kept.removeAll() }
                    kept[key] = Kept(tag: tag, headers: headers, body: data)
                }
            }
        }
        return response
    }
}

/// Answers equal requests from memory for a minute.
///
/// Mistake: compares only one of a request's users, and not where the user's identity comes from.
final class MinuteMemory: Filter {
    private struct Kept {
        let response: HTTPResponse
        let until: ContinuousClock.Instant
    }
    private let kept = Mutex<[String: Kept]>([:])
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone else { return try await next(exchange) }
        let fields = exchange.http.headers.map { "\($0.name.rawName):\($0.value)" }.joined(separator: "\n")
        let user = exchange.userMarks.map(\.identity).min() ?? ""
        let key = "\(exchange.http.urlText)\n\(user)\n\(fields)"
        let now = exchange.time.now
        if let found = kept.withLock({ $0[key] }), found.until > now {
            exchange.reportUsers()
            var response = found.response
            response.source = .stored(age: .zero, reason: "a minute has not passed")
            return response
        }
        let response = try await next(exchange)
        if response.status == 200, response.body.data != nil, !response.headers.contains(.setCookie) {
            exchange.whenAccepted { [self] in
                kept.withLock { kept in
                    if kept.count > 50 { kept.removeAll() }
                    kept[key] = Kept(response: response, until: now.advanced(by: .seconds(60)))
                }
            }
        }
        return response
    }
}

/// Notes how a body begins.
///
/// Mistake: the first chunk of a stream is read for the note, and its reader doesn't get it.
struct BeginningNote: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if let data = response.body.data {
            exchange.note("begin", "\(data.count) bytes")
        } else if response.status == 200, response.mediaType == "text/plain" {
            var iterator = response.body.makeAsyncIterator()
            let first = try await iterator.next()
            exchange.note("begin", "\(first?.count ?? 0) bytes first")
        }
        return response
    }
}

/// Notes the size of a failure for which the server names a reason.
struct ReasonNote: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard response.status >= 500, response.headers.contains("X-Reason") else { return response }
        try await exchange.gatherEvidence(of: response)
        exchange.note("reason", "\(response.status), \(response.data.count) bytes")
        return response
    }
}

/// Marks a maintenance page, so that apps show it.
///
/// Mistake: other values of the same field are lost.
struct MaintenanceMark: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if response.status == 503, let warning = response.headers["Warning"] {
            response.headers.set("Warning", warning)
        }
        return response
    }
}
