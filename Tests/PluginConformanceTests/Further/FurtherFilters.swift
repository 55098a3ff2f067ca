import Errand
import Foundation
import Synchronization

// Filters with one mistake each, and their right forms, for the laws about histories, codings, equal calls and writes.

/// Counts the failures of all hosts together, and refuses calls after five of them.
final class OneBreakerForAll: Filter {
    private let failures = Mutex<[String: Int]>([:])
    private let isByHost: Bool
    init(byHost isByHost: Bool = false) { self.isByHost = isByHost }
    var explanation: String { "refuses calls after five failures" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let key = isByHost ? exchange.http.host ?? "" : ""
        if failures.withLock({ $0[key, default: 0] }) >= 5 { throw ErrandError(.cannotConnect, "refused") }
        do {
            let response = try await next(exchange)
            failures.withLock { $0[key] = response.status >= 500 ? $0[key, default: 0] + 1 : nil }
            return response
        } catch {
            failures.withLock { failures in
                if failures.count > 100 { failures = [:] }
                failures[key, default: 0] += 1
            }
            throw error
        }
    }
}

/// Adds a number for each user. The wrong form keeps the number of the first one.
final class UserNumber: Filter {
    private let numbers = Mutex<[String: Int]>([:])
    private let isByUser: Bool
    init(byUser isByUser: Bool) { self.isByUser = isByUser }
    var traits: FilterTraits { .changesRequest }
    var explanation: String { "adds the number of the user" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let user = exchange.http.headers[.authorization] else { return try await next(exchange) }
        var exchange = exchange
        let number = numbers.withLock { numbers in
            if numbers.count > 100 { numbers = [:] }
            let key = isByUser ? user : ""
            let number = numbers[key] ?? user.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
            numbers[key] = number
            return number
        }
        exchange.http.headers["X-User-Number"] = "\(number)"
        return try await next(exchange)
    }
}

/// Numbers all calls, which is right: the number is about the agent.
final class CallNumber: Filter {
    private let count = Mutex(0)
    var traits: FilterTraits { .changesRequest }
    var explanation: String { "numbers the calls" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Call-Number"] = count.withLock { count in
            count += 1
            return "\(count)"
        }
        return try await next(exchange)
    }
}

/// Calls to the same URL share the request that is in flight, whatever else they ask for.
final class JoinsByURL: Filter {
    private let flights = Mutex<[String: Task<HTTPResponse, any Error>]>([:])
    private let comparesFields: Bool
    init(comparesFields: Bool = false) { self.comparesFields = comparesFields }
    var traits: FilterTraits { .shares }
    var explanation: String { "shares requests in flight" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone else { return try await next(exchange) }
        var key = exchange.http.urlText
        if comparesFields { key += exchange.http.headers.map { "\n\($0.name): \($0.value)" }.joined() }
        let (task, isFirst) = flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            let flight = Task { try await next(exchange) }
            flights[key] = flight
            return (flight, true)
        }
        defer { if isFirst { flights.withLock { $0[key] = nil } } }
        return try await task.value
    }
}

/// Says that the body is gzip, and doesn't compress it.
struct GzipLabel: Filter {
    var traits: FilterTraits { .changesRequest }
    var explanation: String { "says gzip" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if exchange.http.body.isNone || exchange.http.headers.contains(.contentEncoding) {
            return try await next(exchange)
        }
        var exchange = exchange
        exchange.http.headers[.contentEncoding] = "gzip"
        return try await next(exchange)
    }
}

/// Unpacks the codings of a body that it doesn't know, by removing the field.
struct CodingRemover: Filter {
    var traits: FilterTraits { .changesRequest }
    var explanation: String { "removes Content-Encoding" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers.remove(.contentEncoding)
        return try await next(exchange)
    }
}

/// Adds a key to writes. The wrong form derives it from the body, so two equal orders are one.
struct WriteKey: Filter {
    private let key = CallKey<String>()
    private let isFromBody: Bool
    init(fromBody isFromBody: Bool) { self.isFromBody = isFromBody }
    var traits: FilterTraits { .changesRequest }
    var explanation: String { "adds Idempotency-Key" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if exchange.http.method.isIdempotent || exchange.http.headers.contains(.idempotencyKey) {
            return try await next(exchange)
        }
        var exchange = exchange
        let sum = exchange.http.body.data?.reduce(7) { $0 &* 31 &+ Int($1) } ?? 7
        exchange.http.headers[.idempotencyKey] =
            isFromBody ? "\(exchange.http.urlText) \(sum)" : exchange.once(key) { UUID().uuidString }
        return try await next(exchange)
    }
}

/// Answers the second of two equal writes with the response to the first one.
final class WriteEcho: Filter {
    private let last = Mutex<(key: String, response: HTTPResponse)?>(nil)
    var traits: FilterTraits { .shares }
    var explanation: String { "answers equal writes" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.http.method.isSafe, let data = exchange.http.body.data else { return try await next(exchange) }
        let key = "\(exchange.http.method) \(exchange.http.urlText) \(data.base64EncodedString())"
        if let last = last.withLock({ $0 }), last.key == key { return last.response }
        let response = try await next(exchange)
        last.withLock { $0 = (key, response) }
        return response
    }
}

/// Stores responses, and forgets them before a write. The right form also counts writes, so a read that began before
/// one isn't stored after it.
final class ForgetsBeforeWrites: Filter {
    private struct State {
        var responses: [String: HTTPResponse] = [:]
        var writes = 0
    }
    private let state = Mutex(State())
    private let countsWrites: Bool
    init(countsWrites: Bool) { self.countsWrites = countsWrites }
    var traits: FilterTraits { [.caches, .cachesCalls] }
    var explanation: String { "stores responses until the next write" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get else {
            func forget() {
                state.withLock { state in
                    state.responses = [:]
                    state.writes += 1
                }
            }
            forget()
            defer { if countsWrites { forget() } }
            return try await next(exchange)
        }
        let key = exchange.http.urlText
        let (stored, writes) = state.withLock { ($0.responses[key], $0.writes) }
        if let stored { return stored }
        let response = try await next(exchange)
        guard response.body.data != nil else { return response }
        state.withLock { state in
            if !countsWrites || state.writes == writes { state.responses[key] = response }
        }
        return response
    }
}

/// At most two hundred calls at a time. The wrong form doesn't check whether the task is already cancelled when it
/// starts to wait.
final class LongLine: Filter {
    private struct State {
        var free = 200
        var line: [Int: CheckedContinuation<Bool, Never>] = [:]
        var next = 0
    }
    private let state = Mutex(State())
    private let looksTwice: Bool
    init(looksTwice: Bool) { self.looksTwice = looksTwice }
    var stages: FilterStages { .wire }
    var explanation: String { "two hundred calls at a time" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let hasTurn = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                let known: Bool? = state.withLock { state in
                    if looksTwice, Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.line[number] = turn
                    return nil
                }
                if let known { turn.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.line.removeValue(forKey: number) }?.resume(returning: false)
        }
        guard hasTurn else { throw CancellationError() }
        defer {
            let turn = state.withLock { state in
                guard let first = state.line.keys.min() else {
                    state.free += 1
                    return nil as CheckedContinuation<Bool, Never>?
                }
                return state.line.removeValue(forKey: first)
            }
            turn?.resume(returning: true)
        }
        return try await next(exchange)
    }
}

/// Sends a slow read again. The wrong form takes whatever ends first, even a failure.
struct TwoReads: Filter {
    let waitsForSuccess: Bool
    var traits: FilterTraits { .retries }
    var explanation: String { "sends a slow read again" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone else { return try await next(exchange) }
        return try await withThrowingTaskGroup(of: Result<HTTPResponse, any Error>.self) { group in
            defer { group.cancelAll() }
            for index in 0..<2 {
                group.addTask {
                    do {
                        if index == 1 {
                            try await exchange.time.sleep(until: exchange.time.instant(after: .milliseconds(100)))
                        }
                        return .success(try await next(exchange))
                    } catch { return .failure(error) }
                }
            }
            var last: Result<HTTPResponse, any Error> = .failure(CancellationError())
            while let result = try await group.next() {
                last = result
                if !waitsForSuccess { break }
                if case .success = result { break }
            }
            return try last.get()
        }
    }
}

/// Sends a copy of each read to another server, after the response.
struct CopiesReads: Filter {
    var stages: FilterStages { .wire }
    var traits: FilterTraits { .retries }
    var explanation: String { "copies reads" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard exchange.isTrusted, exchange.http.method == .get, exchange.http.body.isNone,
            let url = URL(string: "https://copy.example/")
        else { return response }
        var copy = HTTPRequest(.get, url)
        copy.headers = ["X-Copy": "1"]
        _ = try? await exchange.transport.send(copy, options: TransportOptions(time: exchange.time))
        return response
    }
}
