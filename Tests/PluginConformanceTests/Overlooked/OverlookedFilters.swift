import Errand
import ErrandEssentials
import Synchronization

/// Notes in a field whether a response is JSON.
struct JSONMark: Filter {
    let comparesText: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        let isJSON =
            comparesText
            ? response.headers[.contentType] == "application/json" : response.mediaType == "application/json"
        if isJSON { response.headers["X-Kind"] = "json" }
        return response
    }
}

/// Asks for a compact form of JSON requests.
struct CompactJSON: Filter {
    let comparesText: Bool

    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let type = exchange.http.headers[.contentType] ?? ""
        let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        if comparesText ? type == "application/json" : essence == "application/json" {
            exchange.http.headers["Prefer"] = "return=minimal"
        }
        return try await next(exchange)
    }
}

/// Notes in a field whether a response may be stored.
struct StoreMark: Filter {
    enum Form: CaseIterable {
        case right
        /// Wrong: the directive can be in capitals.
        case comparesCase
        /// Wrong: the directive can be one of several.
        case comparesWhole
        /// Wrong: the field can occur twice.
        case readsFirst
    }

    let form: Form

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if mayStore(response.headers) { response.headers["X-Stores"] = "yes" }
        return response
    }

    private func mayStore(_ headers: HTTPHeaders) -> Bool {
        let values = headers.values(of: .cacheControl)
        switch form {
        case .right:
            let members = values.joined(separator: ",").split(separator: ",")
            return !members.contains { $0.lowercased().filter { $0 != " " } == "no-store" }
        case .comparesCase: return !(headers[.cacheControl] ?? "").contains("no-store")
        case .comparesWhole: return !(headers[.cacheControl] ?? "").lowercased().contains("no-cache, no-store")
        case .readsFirst: return !(values.first ?? "").lowercased().contains("no-store")
        }
    }
}

/// Sends a request again after a failure.
struct RepeatsFailures: Filter {
    enum Form { case afterLoss, withKey, ifUnreached, ifRefused }

    let form: Form

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if form == .withKey, !exchange.http.headers.contains(.idempotencyKey) {
            exchange.http.headers[.idempotencyKey] = exchange.once(Self.key) { UUID().uuidString }
        }
        let count = exchange.stagedWorkCount
        do {
            let response = try await next(exchange)
            guard form == .ifRefused, response.status == 409, isRepeatable(exchange) else { return response }
            await exchange.discard(response)
        } catch let error as ErrandError {
            let codes: [ErrandError.Code] = form == .ifUnreached ? [.cannotConnect] : [.connectionLost]
            guard form != .ifRefused, codes.contains(error.code), isRepeatable(exchange) else { throw error }
        }
        await exchange.discardStagedWork(after: count)
        return try await next(exchange)
    }

    private func isRepeatable(_ exchange: Exchange) -> Bool {
        exchange.http.body.isReplayable || exchange.http.body.isNone
    }

    private static let key = CallKey<String>()
}

/// Rejects some responses with its own error.
struct RejectsForbidden: Filter {
    struct Forbidden: Error {}

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        if response.status == 403 { throw Forbidden() }
        return response
    }
}
