import Errand
import ErrandEssentials
import Foundation
import Synchronization

// Filters that read bodies, hold calls back or change URLs, with a mistake of a kind, and right forms.

/// Adds the number of a body's bytes that aren't zero.
struct BodyWeight: Filter {
    enum Form { case right, counts, readsTwice }
    let form: Form
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let body = exchange.http.body
        guard !body.isNone, let length = body.length, length < 1 << 20 else { return try await next(exchange) }
        var exchange = exchange
        if form == .counts {
            // Measures while the transport reads, and keeps the length.
            if !body.isReplayable { exchange.http.body = try measured(body, length) }
            return try await next(exchange)
        }
        let bytes = try await body.open().collect(upTo: 1 << 20)
        if form == .right, !body.isReplayable { exchange.http.body = .data(bytes, contentType: body.contentType) }
        exchange.http.headers["X-Weight"] = "\(bytes.count { $0 != 0 })"
        return try await next(exchange)
    }

    private func measured(_ body: RequestBody, _ length: Int64) throws -> RequestBody {
        let chunks = BodyChunks(try body.open())
        let count = Atomic(0)
        return .stream(
            HTTPBody(length: length, cancel: chunks.cancel) {
                guard let chunk = try await chunks.next() else { return nil }
                count.add(chunk.count, ordering: .relaxed)
                return chunk
            }, contentType: body.contentType)
    }
}

/// An equal order is still running.
struct DoubleOrder: Error {}

/// Refuses a second order while an equal one runs.
final class OrderGuard: Filter {
    enum Form { case right, forgetsSuccesses, remembersFailures }
    private struct Key: Hashable {
        let method: HTTPMethod
        let url: String
        let body: Data
        let users: Set<UserMark>
    }
    private let form: Form
    private let running = Mutex<Set<Key>>([])
    private let failed = Mutex<[Key: ContinuousClock.Instant]>([:])

    init(_ form: Form) { self.form = form }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let http = exchange.http
        guard !http.method.isIdempotent, let body = http.body.data, !body.isEmpty else {
            return try await next(exchange)
        }
        let key = Key(method: http.method, url: http.urlText, body: body, users: exchange.userMarks)
        // For an hour, an order that failed isn't sent again.
        let isFailed = failed.withLock { $0[key] }.map { $0 > exchange.time.now } ?? false
        guard !isFailed, running.withLock({ $0.insert(key).inserted }) else { throw DoubleOrder() }
        if form == .forgetsSuccesses {
            let response = try await next(exchange)
            running.withLock { _ = $0.remove(key) }
            return response
        }
        defer { running.withLock { _ = $0.remove(key) } }
        do { return try await next(exchange) } catch {
            if form == .remembersFailures, !error.isCancellation {
                failed.withLock { failed in
                    if failed.count > 100 { failed = [:] }
                    failed[key] = exchange.time.instant(after: .seconds(3_600))
                }
            }
            throw error
        }
    }
}

/// Too many calls wait.
struct FullRoom: Error {}

/// Sends four requests at the same time. At most a thousand others wait.
final class WaitingRoom: Filter {
    private enum Answer { case granted, cancelled, refused }
    private struct State {
        var used = 0
        var waiting = 0
        var lastID = 0
        var queue: [(id: Int, CheckedContinuation<Answer, Never>)] = []
    }
    /// Right: counts a cancelled call no longer as waiting.
    private let countsDown: Bool
    private let state = Mutex(State())
    var stages: FilterStages { .wire }
    var waitingCount: Int { state.withLock { $0.queue.count } }

    init(countsDown: Bool) { self.countsDown = countsDown }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        switch await entered() {
        case .granted: break
        case .cancelled: throw CancellationError()
        case .refused: throw FullRoom()
        }
        defer { leave() }
        return try await next(exchange)
    }

    private func entered() async -> Answer {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Answer? in
                    if Task.isCancelled { return .cancelled }
                    if state.used < 4 {
                        state.used += 1
                        return .granted
                    }
                    if state.waiting >= 1_000 { return .refused }
                    state.waiting += 1
                    state.queue.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
                guard let index = state.queue.firstIndex(where: { $0.id == id }) else { return nil }
                if countsDown { state.waiting -= 1 }
                return state.queue.remove(at: index).1
            }
            waiter?.resume(returning: .cancelled)
        }
    }

    private func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            if state.queue.isEmpty {
                state.used -= 1
                return nil
            }
            state.waiting -= 1
            return state.queue.removeFirst().1
        }
        waiter?.resume(returning: .granted)
    }
}

/// Sends requests to the part of a service for a country.
struct CountryPath: Filter {
    enum Form { case right, looks, everyHop }
    let form: Form
    var traits: FilterTraits { .changesRequest }
    /// The right forms run before redirects, or look whether the path is already changed.
    var stages: FilterStages { form == .right ? .call : .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let text = exchange.http.urlText
        guard exchange.isTrusted, let scheme = text.range(of: "://") else { return try await next(exchange) }
        let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        if form == .looks, text[end...].hasPrefix("/de/") { return try await next(exchange) }
        var exchange = exchange
        if let url = URL(string: "\(text[..<end])/de\(text[end...])", encodingInvalidCharacters: false) {
            exchange.http.url = url
        }
        return try await next(exchange)
    }
}

/// Adds the app's version and the time to the query of every hop.
struct VersionItem: Filter {
    /// Right: replaces the items. Wrong: adds them again.
    let replaces: Bool
    var traits: FilterTraits { .changesRequest }
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let text = String(exchange.http.urlText.prefix { $0 != "#" })
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        var items = text[mark...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        if replaces { items.removeAll { $0.hasPrefix("app-version=") || $0.hasPrefix("app-time=") } }
        let query =
            (items.map(String.init) + ["app-version=3", "app-time=\(exchange.time.date.timeIntervalSince1970)"])
            .joined(separator: "&")
        if let url = URL(string: "\(text[..<mark])?\(query)", encodingInvalidCharacters: false) {
            exchange.http.url = url
        }
        return try await next(exchange)
    }
}
