import Errand
import ErrandEssentials

/// The course of a call, as the suite observes it before and after the filter.
struct LawTrace: Sendable {
    struct Send: Sendable {
        var http: HTTPRequest
        var body: Data?
        var timeout: Duration
        var isStreamed: Bool
        var isSaved = false
        var priority: RequestPriority
        var hasTag: Bool
        /// The values of the exchange's own tags.
        var tags: [String] = []
        var isTrusted: Bool
        /// The users to whom the response belongs.
        var users: Set<UserMark> = []
        /// The URL of the resource, without the parts that a filter left out for caches.
        var resource = ""
        var hasTaskValue = true
        var connects = true
        /// Whether the request belongs to detached work, such as the refresh of a stored response.
        var isDetached = false
        var failure: String?
        /// The status of the response. `nil` if the request failed, or hasn't ended yet.
        var status: Int?
        var begin = Moment()
        var end = Moment()

        var origin: String {
            "\(http.url.scheme ?? "")://\(http.host ?? "")\(http.url.port.map { ":\($0)" } ?? "")"
        }
        /// Whether the server can have processed the request. It hasn't if it couldn't be reached, or if it refused the
        /// request.
        var mayBeProcessed: Bool {
            if let status { return status == 408 || !(400...499).contains(status) }
            return !["cannotConnect", "nameLookupFailed"].contains(failure)
        }
        var hasFailed: Bool { failure != nil || (status ?? 0) >= 500 }
        var hasKey: Bool { http.headers.contains(.idempotencyKey) }
        var ending: String { failure ?? status.map { "status \($0)" } ?? "no response" }
        /// The parts of the request that a server can distinguish.
        var image: String {
            let fields = http.headers.map { "\($0.name.rawName.lowercased()): \($0.value)" }
            let text = body.map { String(validating: $0, as: UTF8.self) ?? "\(Array($0))" } ?? ""
            return "\(http.method) \(http.urlText)\n\(fields.joined(separator: "\n"))\n\n\(text)"
        }
    }

    /// A time by the system's clock and by the agent's clock.
    struct Moment: Sendable {
        var real = ContinuousClock.now
        var time = ContinuousClock.now
    }

    struct Response: Sendable {
        var status: Int
        var url: String
        var version: String?
        var source: String
        var headers: HTTPHeaders
        var body: Data?
        var length: Int64?
    }

    enum Outcome: Sendable {
        case response(Response)
        case failure(any Error)
        case endless
    }

    var sends: [Send] = []
    var outcome = Outcome.endless
    /// Progress, 1xx responses, and trailers.
    var events: [String] = []
    /// The work that other filters staged, and the checks that they ran.
    var work: [String] = []
    var elapsed = Duration.zero
    /// The time from the call's begin until its first cancellation. `nil` if it wasn't cancelled.
    var cancelled: Duration?
    /// Whether the server stopped the call, because it sent too many requests.
    var isEndless = false
    /// The number of requests that the filter sent after it returned.
    var lateSends = 0
    var isBegun = false
    var isReached = false
}

extension LawTrace.Outcome: CustomStringConvertible {
    var description: String {
        switch self {
        case .response(let response): "a response with status \(response.status)"
        case .failure(let error): error.isCancellation ? "a cancellation" : LawTrace.name(of: error)
        case .endless: "a call that doesn't end"
        }
    }

    var response: LawTrace.Response? {
        if case .response(let response) = self { response } else { nil }
    }
    var isSuccess: Bool { response.map { $0.status < 400 } ?? false }
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
    var kind: String {
        switch self {
        case .response(let response): "status \(response.status)"
        case .failure(let error): error.isCancellation ? "cancelled" : LawTrace.name(of: error)
        case .endless: "endless"
        }
    }
}

extension LawTrace {
    static func name(of error: any Error) -> String {
        (error as? ErrandError).map { "\($0.code)" } ?? "\(type(of: error))"
    }
}
