import Errand
import ErrandConformance
import ErrandEssentials
import Synchronization

/// Adds a token that a closure returns. Calls that wait for the token share one call of the closure.
final class SharedToken: Filter {
    enum Form: CaseIterable { case right, keepsFailure, endsWithFirst, ignoresCancellation, hidesError }

    private struct Failed: Error {}

    private let form: Form
    private let closure: ConformanceClosure
    private let task = Mutex<Task<String, any Error>?>(nil)
    var traits: FilterTraits { .authenticates }
    var stages: FilterStages { .hop }

    init(_ form: Form, _ closure: ConformanceClosure) { (self.form, self.closure) = (form, closure) }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.isTrusted else { return try await next(exchange) }
        var exchange = exchange
        let token: String
        do { token = try await self.token() } catch {
            if form == .hidesError, !error.isCancellation { throw Failed() }
            throw error
        }
        exchange.http.headers.set("X-Token", token, sensitive: true)
        return try await next(exchange)
    }

    private func token() async throws -> String {
        if form == .endsWithFirst {
            let isFirst = task.withLock { $0 == nil }
            // Wrong: the closure runs in the task of the first call.
            if isFirst { return try await withoutTask() }
        }
        let shared = task.withLock { task in
            if let task { return task }
            let new = Task { [closure] in
                try await closure()
                return "token"
            }
            task = new
            return new
        }
        defer {
            if form != .keepsFailure { task.withLock { if $0 == shared { $0 = nil } } }
        }
        if form == .ignoresCancellation { return try await shared.value }
        return try await valueUnlessCancelled(of: shared)
    }

    private func withoutTask() async throws -> String {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let shared = Task {
            for await _ in stream {}
            try Task.checkCancellation()
            return "token"
        }
        task.withLock { $0 = shared }
        defer {
            continuation.finish()
            task.withLock { $0 = nil }
        }
        do { try await closure() } catch {
            shared.cancel()
            throw error
        }
        return "token"
    }
}

/// Changes requests by a closure, two at a time.
final class LimitedTransform: Filter {
    enum Form: CaseIterable { case right, keepsPlace }

    private let form: Form
    private let closure: ConformanceClosure
    private let permits = Permits(2)
    var traits: FilterTraits { .changesRequest }

    init(_ form: Form, _ closure: ConformanceClosure) { (self.form, self.closure) = (form, closure) }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        try await permits.take()
        do { try closure.throwIfFailing() } catch {
            if form == .right { permits.release() }
            throw error
        }
        permits.release()
        exchange.http.headers["X-Changed"] = "1"
        return try await next(exchange)
    }
}
