import Errand
import Synchronization

/// A request in a task of its own, which begins on its caller's thread if the system allows that: without a wait it
/// then needs no other thread, and no timer.
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

    /// Whether it has already ended.
    var isFinished: Bool { mark.isSet.load(ordering: .acquiring) }

    /// Its result, whatever cancels the awaiting task.
    var result: Result<HTTPResponse, any Error> { get async { await task.result } }

    /// The response, whatever cancels the awaiting task. Throws the error of the request.
    var value: HTTPResponse { get async throws { try await task.value } }

    func cancel() { task.cancel() }

    /// The response; the request is cancelled with the awaiting task.
    func joined() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
