import Errand
import ErrandEssentials
import Synchronization

/// A task-local value from outside the filter, such as a trace's ID.
enum LawTaskValue {
    @TaskLocal static var isSet = false
}

/// Observes a call before and after the filter: records the exchanges, stages work, and adds a check.
final class LawProbe: Filter {
    let stages: FilterStages

    init(_ stages: FilterStages) { self.stages = stages }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let call = (exchange.request as? LawRequest)?.call,
            !exchange.isMirror(of: URL(string: call.exchange.url)?.host())
        else { return try await next(exchange) }
        let name = stages == .call ? "outside" : "inside"
        exchange.whenAccepted {
            call.note { $0.work.append("\(name) committed") }
        } otherwise: {
            call.note { $0.work.append("\(name) discarded") }
        }
        exchange.checks.add(ResponseCheck("law \(name)") { _ in call.note { $0.work.append("\(name) checked") } })
        if stages == .call {
            call.note { $0.isBegun = true }
            var exchange = exchange
            for user in call.users { exchange.assign(to: user) }
            return try await LawTaskValue.$isSet.withValue(true) { try await passed(exchange, call, next) }
        }
        let number = call.state.withLock { state in
            let send = LawTrace.Send(
                http: exchange.http, body: nil, timeout: exchange.timeout, isStreamed: exchange.delivery == .stream,
                isSaved: exchange.delivery == .file(call.file),
                priority: exchange.priority, hasTag: exchange.tags[BenchTag.self] != nil,
                tags: call.exchange.tags.map { $0.read(exchange.tags) },
                isTrusted: exchange.isTrusted, users: exchange.userMarks,
                resource: exchange.tags[ResourceURL.self]?.absoluteString ?? exchange.http.urlText,
                hasTaskValue: LawTaskValue.isSet,
                connects: exchange.transport is any ConnectingTransport,
                isDetached: exchange.activity.kind == .background,
                begin: LawTrace.Moment(time: exchange.time.now))
            state.trace.sends.append(send)
            return state.trace.sends.count
        }
        let time = exchange.time
        defer { call.noteSend(number) { $0.end = LawTrace.Moment(time: time.now) } }
        var exchange = exchange
        exchange.tags[LawCallTag.self] = LawSendTag(call: call, number: number)
        do {
            // The server ends a call with too many requests.
            if let refusal = call.refusal, number <= LawCall.most { throw refusal }
            let response = try await next(exchange)
            call.noteSend(number) { $0.status = response.status }
            return response
        } catch {
            call.noteSend(number) { $0.failure = LawTrace.name(of: error) }
            throw error
        }
    }

    private func passed(_ exchange: Exchange, _ call: LawCall, _ next: Next) async throws -> HTTPResponse {
        let count = exchange.stagedWorkCount
        let first = try await next(exchange)
        guard call.exchange.isRepeated, first.status == 503 else { return first }
        await exchange.discardStagedWork(after: count)
        await exchange.discard(first)
        return try await next(exchange)
    }
}

/// Cancels a call just before it enters the filter, so the filter sees a task that is already cancelled.
struct LawCanceller: Filter {
    let stages: FilterStages

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if let call = (exchange.request as? LawRequest)?.call, call.cancelledBefore == stages {
            // A cancellation reaches the call only after a suspension.
            await Task.yield()
            try? await Task.sleep(for: .milliseconds(1))
            call.cancel()
        }
        return try await next(exchange)
    }
}
