import Errand
import ErrandEssentials
import Foundation
import Synchronization

// Filters that act for a host, a user or a call, with a mistake of a kind, and right forms.

/// Adds a key for a service's domain and its subdomains.
struct DomainKey: Filter {
    enum Form { case right, withoutDot, beginning, anyScheme }
    static let domain = "service.test"
    let form: Form
    var traits: FilterTraits { [.changesRequest, .authenticates] }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard isService(exchange.http) else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers.set("X-Service-Key", "wider-key-1", sensitive: true)
        return try await next(exchange)
    }

    private func isService(_ request: HTTPRequest) -> Bool {
        // The right form ignores the case and the root's dot.
        var host = request.host?.lowercased() ?? ""
        if host.hasSuffix(".") { host.removeLast() }
        let isDomain = host == Self.domain || host.hasSuffix(".\(Self.domain)")
        return switch form {
        case .right: isDomain && request.url.scheme == "https" && (request.url.port ?? 443) == 443
        case .withoutDot: host.hasSuffix(Self.domain) && request.url.scheme == "https" && request.url.port == nil
        case .beginning: request.urlText.hasPrefix("https://api.\(Self.domain)")
        case .anyScheme: isDomain
        }
    }
}

/// Answers calls to a service that doesn't exist yet.
struct DemoService: Filter {
    /// Right: compares the host. Wrong: searches for it in the URL.
    let comparesHost: Bool
    static let host = "demo.service.test"

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isDemo =
            comparesHost ? exchange.http.host == Self.host : exchange.http.urlText.contains(Self.host)
        if !isDemo { return try await next(exchange) }
        return HTTPResponse(to: exchange.http, status: 200, body: HTTPBody(Data("demo".utf8)))
    }
}

/// Sends requests for an account.
struct AccountField: Filter {
    enum Form { case right, inURL, undeclared }
    let form: Form
    let account: String
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        switch form {
        case .inURL:
            let text = exchange.http.urlText
            let url = URL(string: "\(text)\(text.contains("?") ? "&" : "?")account=\(account)")
            if let url, url.fragment() == nil { exchange.http.url = url }
        case .right:
            exchange.http.headers["X-Account"] = account
            exchange.assign(to: UserMark(account, source: "account"))
        case .undeclared: exchange.http.headers["X-Account"] = account
        }
        return try await next(exchange)
    }
}

/// Responses that filters of several accounts keep in common.
final class CommonCopies: Sendable {
    private let copies = Mutex<[String: HTTPResponse]>([:])

    subscript(key: String) -> HTTPResponse? {
        get { copies.withLock { $0[key] } }
        set {
            copies.withLock { copies in
                if copies.count > 100 { copies = [:] }
                copies[key] = newValue
            }
        }
    }
}

/// Returns an account's earlier response if the server can't be reached.
struct AccountCopies: Filter {
    /// Right: a copy belongs to an account. Wrong: to a URL.
    let separatesAccounts: Bool
    let account: String
    let copies: CommonCopies
    var traits: FilterTraits { [.caches, .separatesUsers] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.delivery == .data, exchange.http.body.isNone,
            exchange.userMarks.isEmpty, !exchange.tags[LiveStream.self]
        else { return try await next(exchange) }
        let fields = exchange.http.headers.map { "\n\($0.name): \($0.value)" }.joined()
        let key = (separatesAccounts ? account : "") + exchange.http.urlText + fields
        if let copy = copies[key] {
            exchange.reportUsers()
            return copy
        }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        if record.marks?.isEmpty ?? true, response.status == 200, response.body.data != nil {
            exchange.whenAccepted { copies[key] = response }
        }
        return response
    }
}

/// Assigns each call to an arm of an experiment.
final class ArmField: Filter {
    enum Form { case right, eachRequest, eachAttempt }
    private let form: Form
    private let count = Atomic(0)
    private let chosen = CallKey<Int>()
    var traits: FilterTraits { .changesRequest }
    var stages: FilterStages { form == .eachAttempt ? .call : .hop }

    init(_ form: Form) { self.form = form }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        func choose() -> Int { count.add(1, ordering: .relaxed).oldValue % 2 }
        var exchange = exchange
        let arm = form == .right ? exchange.once(chosen, choose) : choose()
        exchange.http.headers["X-Arm"] = arm == 0 ? "old" : "new"
        return try await next(exchange)
    }
}

/// Adds fields that a server writes into its log.
final class LogFields: Filter {
    enum Form { case right, staleNonce, newID, sameID }
    private let form: Form
    private let number = Atomic(0)
    private let chosen = CallKey<String>()
    var traits: FilterTraits { .changesRequest }
    var stages: FilterStages { form == .staleNonce ? .call : .hop }

    init(_ form: Form) { self.form = form }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Nonce"] = "\(number.add(1, ordering: .relaxed).newValue)"
        exchange.http.headers["X-Attempt"] = "\(exchange.attempt).\(exchange.hop)"
        exchange.http.headers["X-Call"] =
            switch form {
            case .newID: UUID().uuidString
            case .sameID: "\(exchange.http.urlText.count)"
            default: exchange.once(chosen) { UUID().uuidString }
            }
        return try await next(exchange)
    }
}

/// Repeats a GET while the server responds with 202.
struct ReadyPolls: Filter {
    enum Form { case right, keepsWork, discardsAllWork }
    let form: Form
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await polled(exchange, next, rest: exchange.http.method == .get ? 3 : 0)
    }

    /// Sends each attempt in a child task.
    private func polled(_ exchange: Exchange, _ next: Next, rest: Int) async throws -> HTTPResponse {
        let count = exchange.stagedWorkCount
        async let attempt = next(exchange)
        let response = try await attempt
        let wake = exchange.time.instant(after: .seconds(1))
        if response.status != 202 || rest == 0 || exchange.deadline.map({ $0 <= wake }) ?? false { return response }
        await exchange.discard(response)
        if form != .keepsWork { await exchange.discardStagedWork(after: form == .right ? count : 0) }
        try await exchange.time.sleep(until: wake)
        return try await polled(exchange, next, rest: rest - 1)
    }
}
