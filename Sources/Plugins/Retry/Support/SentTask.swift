import Errand
import Synchronization

/// A request in its own task. If the system allows it, the task starts on the caller's thread, so a request that
/// doesn't wait needs no other thread and no timer.
struct SentTask: Sendable {
    private final class Mark: Sendable {
        let isSet = Atomic(false)
    }

    private let task: Task<HTTPResponse, any Error>
    private let mark: Mark

    init(_ exchange: Exchange, _ next: Next) { self.init { try await next(exchange) } }

    init(_ send: @escaping @Sendable () async throws -> HTTPResponse) {
        let mark = Mark()
        self.mark = mark
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            task = Task.immediate { @concurrent in
                defer { mark.isSet.store(true, ordering: .releasing) }
                return try await send()
            }
        } else {
            task = Task { @concurrent in
                defer { mark.isSet.store(true, ordering: .releasing) }
                return try await send()
            }
        }
    }

    var isFinished: Bool { mark.isSet.load(ordering: .acquiring) }

    /// The result of the request. The wait for it doesn't end early if the awaiting task is cancelled.
    var result: Result<HTTPResponse, any Error> { get async { await task.result } }

    var value: HTTPResponse { get async throws { try await task.value } }

    func cancel() { task.cancel() }

    /// Cancels the request if the awaiting task is cancelled.
    func joined() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
