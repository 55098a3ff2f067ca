import Errand
import ErrandEssentials
import Synchronization

/// Requests the rest of a body that breaks off, and returns all bytes at once.
struct ResumedData: Filter {
    enum Form: CaseIterable { case right, ignoresVersion, ignoresDate, ignoresLength, appendsWhole, skipsBytes }

    let form: Form

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.request.delivery == .data,
            !exchange.http.headers.contains(.range)
        else { return try await next(exchange) }
        var streamed = exchange
        streamed.delivery = .stream
        var response = try await next(streamed)
        guard response.status == 200, response.body.data == nil else { return response }
        let length = response.body.length
        var all = Data()
        do { for try await chunk in response.body { all += chunk } } catch let error as ErrandError
            where error.code == .connectionLost
        {
            var again = exchange
            again.delivery = .data
            if form != .skipsBytes {
                guard let validator = validator(of: response) else { throw error }
                again.http.headers.set(.range, "bytes=\(all.count)-")
                if !validator.isEmpty { again.http.headers.set(.ifRange, validator) }
            }
            let rest = try await next(again)
            guard let data = rest.body.data, isRest(rest, of: response, from: all.count, length) else { throw error }
            all += form == .skipsBytes ? Data(data.dropFirst(all.count)) : data
        }
        response.body = HTTPBody(all)
        return response
    }

    /// Returns the value of `If-Range`, an empty text for none, or `nil` if the body must not be continued.
    private func validator(of response: HTTPResponse) -> String? {
        if form == .ignoresVersion || form == .ignoresLength { return "" }
        if let tag = response.headers[.entityTag], tag.hasPrefix("\"") { return tag }
        return form == .ignoresDate ? "" : response.headers[.lastModified]
    }

    private func isRest(_ rest: HTTPResponse, of first: HTTPResponse, from start: Int, _ length: Int64?) -> Bool {
        switch form {
        case .skipsBytes, .appendsWhole: return rest.status < 300
        case .ignoresVersion, .ignoresDate, .right, .ignoresLength:
            guard rest.status == 206, let range = rest.headers[.contentRange] else { return false }
            let numbers = range.split { !$0.isNumber }.compactMap { Int64($0) }
            guard numbers.count == 3, numbers[0] == Int64(start), numbers[1] == numbers[2] - 1 else { return false }
            if form == .ignoresLength { return true }
            if form != .ignoresVersion, rest.headers[.entityTag] != first.headers[.entityTag] { return false }
            if form == .right, rest.headers[.lastModified] != first.headers[.lastModified] { return false }
            return numbers[2] == length
        }
    }
}

/// Requests a resource in segments, and joins them.
struct Segments: Filter {
    /// Right: requires the same ETag of all segments. Wrong: joins what arrives.
    let comparesTags: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, !exchange.http.headers.contains(.range),
            exchange.request.delivery == .data
        else { return try await next(exchange) }
        var (all, total) = (Data(), 1)
        var first: HTTPResponse?
        while all.count < total {
            var part = exchange
            part.http.headers.set(.range, "bytes=\(all.count)-\(all.count + 499)")
            if comparesTags, let tag = first?.headers[.entityTag] { part.http.headers.set(.ifMatch, tag) }
            let response = try await next(part)
            guard response.status == 206, let data = response.body.data, !data.isEmpty,
                let numbers = response.headers[.contentRange]?.split(whereSeparator: { !$0.isNumber }).compactMap({
                    Int($0)
                }),
                numbers.count == 3, numbers[0] == all.count
            else {
                if first == nil { return response }
                throw ErrandError(.invalidResponse, "a segment is missing")
            }
            if let first {
                let isSame = response.headers[.entityTag] == first.headers[.entityTag] && numbers[2] == total
                if comparesTags, !isSame { throw ErrandError(.invalidResponse, "another version") }
            } else if comparesTags, response.headers[.entityTag]?.hasPrefix("\"") != true {
                // The versions can't be told apart.
                return try await next(exchange)
            }
            first = first ?? response
            total = numbers[2]
            all += data
        }
        guard let first else { return try await next(exchange) }
        var headers = first.headers
        for name in [HTTPHeaderName.contentRange, .contentLength] { headers.remove(name) }
        return HTTPResponse(
            url: first.url, status: 200, headers: headers, body: HTTPBody(all), version: first.version)
    }
}

/// Keeps parts that callers request, and joins them.
final class PartCopies: Filter {
    private struct Part {
        let start: Int
        let response: HTTPResponse
        let data: Data
    }

    /// Right: joins parts with the same ETag. Wrong: joins all parts of a URL.
    private let comparesTags: Bool
    private let parts = Mutex<[String: [Part]]>([:])
    var traits: FilterTraits { .caches }

    init(comparesTags: Bool) { self.comparesTags = comparesTags }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.request.delivery == .data,
            exchange.userMarks.isEmpty
        else { return try await next(exchange) }
        let key = exchange.http.urlText
        let range = exchange.http.headers[.range]
        if range == nil, let whole = parts.withLock({ joined($0[key] ?? []) }) { return whole }
        let response = try await next(exchange)
        guard response.status == 206, let data = response.body.data, response.headers[.entityTag] != nil,
            let start = response.headers[.contentRange]?.split(whereSeparator: { !$0.isNumber }).first.flatMap({
                Int($0)
            })
        else { return response }
        exchange.whenAccepted { [self] in
            parts.withLock { parts in
                if parts.count >= 20 { parts.removeAll() }
                let tag = response.headers[.entityTag]
                let old = parts[key, default: []].filter {
                    $0.start != start && (!comparesTags || $0.response.headers[.entityTag] == tag)
                }
                parts[key] = old.suffix(20) + [Part(start: start, response: response, data: data)]
            }
        }
        return response
    }

    private func joined(_ parts: [Part]) -> HTTPResponse? {
        var all = Data()
        for part in parts.sorted(by: { $0.start < $1.start }) {
            if part.start != all.count { return nil }
            all += part.data
        }
        guard let last = parts.last?.response,
            let total = last.headers[.contentRange]?.split(whereSeparator: { !$0.isNumber }).last.flatMap({ Int($0) }),
            total == all.count
        else { return nil }
        var headers = last.headers
        for name in [HTTPHeaderName.contentRange, .contentLength] { headers.remove(name) }
        return HTTPResponse(
            url: last.url, status: 200, headers: headers, body: HTTPBody(all), version: last.version,
            source: .stored("parts", age: .zero, reason: "all parts are stored"))
    }
}
