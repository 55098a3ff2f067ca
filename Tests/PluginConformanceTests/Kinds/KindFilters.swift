import Errand
import ErrandEssentials
import Synchronization

// Filters with a mistake of a kind, and right forms.

/// The part of the app that sends a request.
enum Area: TagKey { static let defaultValue = "" }

/// Names the paths of requests for metrics.
struct PathNames: Filter {
    /// Right: keeps the name that the request has. Wrong: replaces it with the path.
    let keepsNames: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !keepsNames || exchange.tags[URLTemplate.self] == nil {
            exchange.tags[URLTemplate.self] = exchange.http.url.path()
        }
        return try await next(exchange)
    }
}

/// Names the app's area in a field.
struct AreaHeader: Filter {
    /// Right: adds a field. Wrong: replaces all fields of a request that has an area.
    let addsField: Bool
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let area = exchange.tags[Area.self]
        if area.isEmpty { return try await next(exchange) }
        var exchange = exchange
        if addsField { exchange.http.headers["X-Area"] = area } else { exchange.http.headers = ["X-Area": area] }
        return try await next(exchange)
    }
}

/// Keeps responses to GET for a minute.
final class MinuteCopies: Filter {
    private struct Key: Hashable {
        let name: String
        let users: Set<UserMark>
        let fields: [String]
    }
    /// Right: finds a response by its URL. Wrong: by its template, if it has one.
    private let usesURL: Bool
    private let entries = Mutex<[Key: (response: HTTPResponse, end: ContinuousClock.Instant)]>([:])
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .caches }

    init(usesURL: Bool) { self.usesURL = usesURL }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.request.delivery == .data else {
            return try await next(exchange)
        }
        let template = usesURL ? nil : exchange.tags[URLTemplate.self]
        let key = Key(
            name: template ?? exchange.http.urlText, users: exchange.userMarks,
            fields: exchange.http.headers.map { "\($0.name.rawName.lowercased()): \($0.value)" })
        let now = exchange.time.now
        if let entry = entries.withLock({ $0[key] }), now < entry.end {
            exchange.reportUsers()
            var response = entry.response
            response.source = .stored("copies", age: .zero, reason: "kept for a minute")
            return response
        }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        guard response.status == 200, response.body.data != nil, !response.headers.contains(.setCookie),
            !response.headers.contains(.vary), !response.headers.contains(.cacheControl),
            record.marks ?? exchange.userMarks == exchange.userMarks
        else { return response }
        exchange.whenAccepted { [self] in
            entries.withLock { entries in
                if entries.count >= 50 { entries.removeAll() }
                entries[key] = (response, now.advanced(by: .seconds(60)))
            }
        }
        return response
    }
}

/// Keeps the bytes of streams, to play them again.
final class StreamCopies: Filter {
    private struct Key: Hashable {
        let url: String
        let users: Set<UserMark>
        let fields: [String]
    }
    /// Right: leaves live streams alone. Wrong: keeps them as well.
    private let skipsLive: Bool
    private let copies = Mutex<[Key: HTTPResponse]>([:])
    var traits: FilterTraits { .caches }

    init(skipsLive: Bool) { self.skipsLive = skipsLive }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isLive = exchange.tags[LiveStream.self]
        guard exchange.http.method == .get, !(isLive && skipsLive) else {
            return try await next(exchange)
        }
        let key = Key(
            url: exchange.http.urlText, users: exchange.userMarks, fields: exchange.http.headers.map(\.value))
        if isLive, var copy = copies.withLock({ $0[key] }) {
            copy.source = .stored("streams", age: .zero, reason: "kept")
            return copy
        }
        var response = try await next(exchange)
        guard isLive, response.status == 200 else { return response }
        response.body = HTTPBody(try await response.body.collect(upTo: 1 << 20))
        copies.withLock { copies in
            if copies.count >= 20 { copies.removeAll() }
            copies[key] = response
        }
        return response
    }
}

/// Returns a copy, and compares it after that. Forgets a copy that has changed.
final class Refreshed: Filter {
    private struct Key: Hashable {
        let url: String
        let users: Set<UserMark>
        let fields: [String]
    }
    /// Right: compares in detached work. Wrong: in a task.
    private let detaches: Bool
    private let copies = Mutex<[Key: HTTPResponse]>([:])
    var traits: FilterTraits { .caches }

    init(detaches: Bool) { self.detaches = detaches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.request.delivery == .data, exchange.http.body.isNone else {
            return try await next(exchange)
        }
        let key = Key(
            url: exchange.http.urlText, users: exchange.userMarks,
            fields: exchange.http.headers.map { "\($0.name): \($0.value)" })
        if var copy = copies.withLock({ $0[key] }) {
            exchange.reportUsers()
            copy.source = .stored("copies", age: .zero, reason: "compared after it's returned")
            if detaches {
                exchange.detach("compare") { [self, copy] exchange in
                    await compare(copy, key, try? next(exchange))
                }
            } else {
                Task { [self, copy] in await compare(copy, key, try? next(exchange)) }
            }
            return copy
        }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        if record.marks ?? exchange.userMarks == exchange.userMarks {
            exchange.whenAccepted { [self] in keep(response, key) }
        }
        return response
    }

    private func compare(_ copy: HTTPResponse, _ key: Key, _ response: HTTPResponse?) async {
        if let response, response.status == 200, response.body.data == copy.body.data { return }
        copies.withLock { $0[key] = nil }
    }

    private func keep(_ response: HTTPResponse, _ key: Key) {
        guard response.status == 200, response.body.data != nil, !response.headers.contains(.vary) else {
            return
        }
        copies.withLock { copies in
            if copies.count >= 20 { copies.removeAll() }
            copies[key] = response
        }
    }
}

/// Adds a key for one service.
struct ServiceToken: Filter {
    let base: String
    /// Right: compares the whole origin. Wrong: the beginning of the URL.
    let comparesOrigin: Bool
    var traits: FilterTraits { .authenticates }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let text = exchange.http.urlText
        let isOwn = comparesOrigin ? text.hasPrefix(base + "/") : text.hasPrefix(base)
        guard isOwn, !exchange.http.headers.contains("X-Api-Key") else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers.set("X-Api-Key", "kind-token-1", sensitive: true)
        return try await next(exchange)
    }
}

/// Waits until a tenth of a second has passed since the last request.
final class Tenths: Filter {
    /// Right: measures with the clock. Wrong: with the date.
    private let usesClock: Bool
    private let last = Mutex<(instant: ContinuousClock.Instant, date: Date)?>(nil)

    init(usesClock: Bool) { self.usesClock = usesClock }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (now, date) = (exchange.time.now, exchange.time.date)
        let last = last.withLock { last in
            defer { last = (now, date) }
            return last
        }
        guard let last else { return try await next(exchange) }
        let passed = usesClock ? last.instant.duration(to: now) : .seconds(date.timeIntervalSince(last.date))
        if passed < .milliseconds(100) {
            let wake = now.advanced(by: .milliseconds(100) - passed)
            if exchange.deadline.map({ $0 > wake }) ?? true { try await exchange.time.sleep(until: wake) }
        }
        return try await next(exchange)
    }
}

/// Removes the line breaks at the end of request bodies.
struct TrimmedBody: Filter {
    /// Right: removes bytes. Wrong: converts the body into text and back.
    let removesBytes: Bool
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard var data = exchange.http.body.data, !data.isEmpty else { return try await next(exchange) }
        if !removesBytes { data = Data(String(decoding: data, as: UTF8.self).utf8) }
        var exchange = exchange
        exchange.http.body = .data(data, contentType: nil)
        return try await next(exchange)
    }
}

/// Numbers requests, at most a thousand of them.
final class FirstRequests: Filter {
    /// Right: starts over after a thousand. Wrong: stops.
    private let startsOver: Bool
    private let number = Mutex(0)
    var traits: FilterTraits { .changesRequest }

    init(startsOver: Bool) { self.startsOver = startsOver }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let number = number.withLock { number -> Int in
            number += 1
            if number > 1_000, startsOver { number = 1 }
            return number
        }
        if number > 1_000 { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers["X-Number"] = "\(number)"
        return try await next(exchange)
    }
}
