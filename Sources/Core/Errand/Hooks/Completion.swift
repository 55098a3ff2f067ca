public import Dispatch
import ErrandHTTP

/// Where the result of a started activity is delivered: on the main actor, on a queue, or wherever a closure goes.
public struct Completion<Success: Sendable>: Sendable {
    private let body: @Sendable (Activity, Result<Success, any Error>) async -> Void

    /// Awaited between will-stop and did-stop.
    public init(_ body: @escaping @Sendable (Activity, Result<Success, any Error>) async -> Void) { self.body = body }

    /// On the main actor. In a program whose main thread is blocked this never runs; the activity is released all the
    /// same.
    public static func main(_ body: @escaping @MainActor (Result<Success, any Error>) -> Void) -> Completion {
        Completion { _, result in await body(result) }
    }

    /// On the main actor, by the way in which the activity ended; for delegates, which the closures capture weakly.
    public static func main(
        success: @escaping @MainActor (Activity, Success) -> Void,
        failure: @escaping @MainActor (Activity, any Error) -> Void,
        cancellation: @escaping @MainActor (Activity) -> Void
    ) -> Completion {
        Completion { activity, result in
            await MainActor.run {
                switch result {
                case .success(let value): success(activity, value)
                case .failure(let error) where error.isCancellation: cancellation(activity)
                case .failure(let error): failure(activity, error)
                }
            }
        }
    }

    /// On a queue; did-stop follows when the closure has returned.
    public static func queue(
        _ queue: DispatchQueue, _ body: @escaping @Sendable (Result<Success, any Error>) -> Void
    ) -> Completion {
        Completion { _, result in
            await withCheckedContinuation { continuation in
                queue.async {
                    body(result)
                    continuation.resume()
                }
            }
        }
    }

    /// This one, then the other.
    public func then(_ other: Completion) -> Completion {
        Completion { activity, result in
            await self.body(activity, result)
            await other.body(activity, result)
        }
    }

    /// The first that there is, then the second.
    static func both(_ first: Completion?, _ second: Completion?) -> Completion? {
        first.map { first in second.map(first.then) ?? first } ?? second
    }

    /// Delivers the result of an activity.
    func delivery(
        to activity: Activity, read: @escaping @Sendable (ActivityResult) throws -> Success = { try $0.get() }
    ) -> @Sendable (ActivityResult) async -> Void {
        { result in await body(activity, Result { try read(result) }) }
    }
}
