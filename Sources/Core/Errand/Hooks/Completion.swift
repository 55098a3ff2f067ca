public import Dispatch
import ErrandHTTP

/// Delivers the result of a started activity on the main actor, on a queue, or to an async closure.
public struct Completion<Success: Sendable>: Sendable {
    private let body: @Sendable (Activity, Result<Success, any Error>) async -> Void

    /// Creates a completion from an async closure, which the activity awaits before did-stop.
    public init(_ body: @escaping @Sendable (Activity, Result<Success, any Error>) async -> Void) { self.body = body }

    /// Creates a completion that runs on the main actor. While the main thread is blocked, the completion can't run,
    /// but the agent has already released the activity.
    public static func main(_ body: @escaping @MainActor (Result<Success, any Error>) -> Void) -> Completion {
        Completion { _, result in await body(result) }
    }

    /// Creates a completion that runs one of three closures on the main actor. If you notify a delegate, capture it
    /// weakly.
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

    /// Creates a completion that runs on a dispatch queue. Accessories receive did-stop when the closure has returned.
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

    /// Returns a completion that runs this completion and then another.
    public func then(_ other: Completion) -> Completion {
        Completion { activity, result in
            await self.body(activity, result)
            await other.body(activity, result)
        }
    }

    static func both(_ first: Completion?, _ second: Completion?) -> Completion? {
        first.map { first in second.map(first.then) ?? first } ?? second
    }

    func delivery(
        to activity: Activity, read: @escaping @Sendable (ActivityResult) throws -> Success = { try $0.get() }
    ) -> @Sendable (ActivityResult) async -> Void {
        { result in await body(activity, Result { try read(result) }) }
    }
}

/// Receives the end of a started request on the main actor, before the completion closure. Exactly one method is
/// called, once.
///
/// All methods are optional. The agent holds the delegate weakly. `activity` identifies the call.
@MainActor public protocol RequestDelegate: AnyObject, Sendable {
    /// The response was accepted and decoded. `response` contains the output.
    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>)
    /// The request failed. `error` is the error that a completion would receive.
    func requestDidFail(_ activity: Activity, error: any Error)
    /// The request was cancelled.
    func requestDidCancel(_ activity: Activity)
}

extension RequestDelegate {
    /// Does nothing.
    public func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {}
    /// Does nothing.
    public func requestDidFail(_ activity: Activity, error: any Error) {}
    /// Does nothing.
    public func requestDidCancel(_ activity: Activity) {}
}

extension Completion {
    static func delegate<Output>(_ delegate: any RequestDelegate) -> Completion where Success == Response<Output> {
        .main(
            success: { [weak delegate] activity, response in
                let erased = Response<any Sendable>(value: response.value, http: response.http)
                delegate?.requestDidSucceed(activity, response: erased)
            },
            failure: { [weak delegate] in delegate?.requestDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.requestDidCancel($0) })
    }
}
