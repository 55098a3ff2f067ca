import Errand
import Foundation
import Synchronization
import Testing

extension AlteredTransport {
    /// Correct transports that were written later, without sight of the laws.
    static let laterRight: [AlteredTransport] = [
        AlteredTransport("uses a second transport if the first reaches no server") { request, options, base in
            do { return try await base.send(request, options: options) } catch let error as ErrandError
                where error.reachedNoServer && error.code == .cannotConnect && request.body.isReplayable
            {
                return try await Wire.strict[0].transport.send(request, options: options)
            }
        },
        AlteredTransport(
            "records the last heads",
            stateful: {
                let heads = Mutex<[String]>([])
                return { request, options, base in
                    let response = try await base.send(request, options: options)
                    heads.withLock { heads in
                        heads.append("\(request.method) \(response.status) \(response.headers.count)")
                        if heads.count > 20 { heads.removeFirst() }
                    }
                    return response
                }
            }),
        AlteredTransport(
            "sends by three transports in turn",
            stateful: {
                let others = [Wire.strict[0].transport, Wire.strict[0].transport]
                let turn = Atomic<Int>(0)
                return { request, options, base in
                    let number = turn.add(1, ordering: .relaxed).newValue % 3
                    return try await (number == 0 ? base : others[number - 1]).send(request, options: options)
                }
            }),
        .response("gives a recorded stream no length") { response in
            if response.body.data == nil { response.body = response.body.mapped(length: nil) { try await $0.next() } }
        },
        AlteredTransport("sends by a task to which it passes cancellations") { request, options, base in
            let task = Task { try await base.send(request, options: options) }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        },
    ]

    /// Wrong transports that were written at the same time.
    static let laterWrong: [AlteredTransport] = [
        AlteredTransport("sends again for the rest of a broken body") { request, options, base in
            var response = try await base.send(request, options: options)
            guard response.body.data == nil, request.method == .get else { return response }
            let count = Mutex(0)
            let again = Mutex<HTTPBody.Iterator?>(nil)
            response.body = response.body.mapped(length: response.body.length) { iterator in
                var rest = again.withLock { $0 }
                if rest == nil {
                    do {
                        let chunk = try await iterator.next()
                        count.withLock { $0 += chunk?.count ?? 0 }
                        return chunk
                    } catch let error as ErrandError where error.code == .connectionLost || error.code == .truncated {
                        rest = try await base.send(request, options: options).body.makeAsyncIterator()
                    }
                }
                defer { again.withLock { $0 = rest } }
                while let chunk = try await rest?.next() {
                    let skip = count.withLock { count in
                        let skip = min(count, chunk.count)
                        count -= skip
                        return skip
                    }
                    if skip < chunk.count { return Data(chunk.dropFirst(skip)) }
                }
                return nil
            }
            return response
        },
        AlteredTransport("uses a second transport after any error, also a cancellation") { request, options, base in
            do { return try await base.send(request, options: options) } catch {
                guard request.method.isIdempotent, request.body.isReplayable else { throw error }
                let second = Task { try await Wire.strict[0].transport.send(request, options: options) }
                return try await second.value
            }
        },
        AlteredTransport(
            "sends equal requests once that run at the same time",
            stateful: {
                let running = RunningTasks()
                return { request, options, base in
                    guard request.method == .get, request.body.isNone else {
                        return try await base.send(request, options: options)
                    }
                    let task = running.task(for: request, options: options, base: base)
                    return try await withTaskCancellationHandler {
                        try await task.value
                    } onCancel: {
                        task.cancel()
                    }
                }
            }),
        AlteredTransport("reads the request body beforehand, to send its length") { request, options, base in
            guard request.body.data == nil, !request.body.isNone, request.body.length == nil else {
                return try await base.send(request, options: options)
            }
            var request = request
            let type = request.body.contentType
            let bytes = try await request.body.open().collect(upTo: 1_000)
            request.body = .data(bytes, contentType: type)
            return try await base.send(request, options: options)
        },
        AlteredTransport(
            "stops sending to a host for a while that lost a connection, by the clock of the system",
            stateful: {
                let lost = Mutex<[String: Date]>([:])
                return { request, options, base in
                    let host = request.host ?? ""
                    if let date = lost.withLock({ $0[host] }), date.timeIntervalSinceNow > -0.2 {
                        throw ErrandError(.cannotConnect, "the host rests")
                    }
                    do { return try await base.send(request, options: options) } catch let error as ErrandError {
                        if error.code == .connectionLost { lost.withLock { $0[host] = Date() } }
                        throw error
                    }
                }
            }),
    ]
}

private final class RunningTasks: Sendable {
    private let tasks = Mutex<[String: Task<HTTPResponse, any Error>]>([:])

    func task(for request: HTTPRequest, options: TransportOptions, base: any Transport) -> Task<
        HTTPResponse, any Error
    > {
        let key = request.urlText
        return tasks.withLock { tasks in
            if let task = tasks[key] { return task }
            let task = Task {
                defer { self.tasks.withLock { $0[key] = nil } }
                var collecting = options
                collecting.delivery = .data
                var response = try await base.send(request, options: collecting)
                response.body = HTTPBody(try await response.body.collect(upTo: options.maximumBodyBytes))
                return response
            }
            tasks[key] = task
            return task
        }
    }
}
