/// Several calls as one: with one output, one handle, one cancellation and one end.
///
/// ```swift
/// struct Profile: Composite {
///     let id: Int
///     var activityKind: ActivityKind { ActivityKind(rawValue: "profile") }
///
///     func run(on agent: ScopedAgent) async throws -> (User, Feed) {
///         async let user = agent.send(GetUser(id: id)).value
///         async let feed = agent.send(GetFeed()).value
///         return try await (user, feed)
///     }
/// }
///
/// let (user, feed) = try await agent.run(Profile(id: 7))
/// ```
///
/// A value: it may be run any number of times, also at the same time. Each run is an ``Activity`` of its own, with its
/// members' activities as its children, on any ``Agent``. A composite is no request: it has no URL and no filters of
/// its own, and its members may be composites.
public protocol Composite<Output>: Sendable {
    /// The result of the whole.
    associatedtype Output: Sendable
    /// The type that is notified of its end, and of what ``notifying(_:)`` adds; ``CompositeDelegate`` by default.
    associatedtype Delegate = any CompositeDelegate

    /// The kind of its activity, such as "race".
    var activityKind: ActivityKind { get }
    /// The label of its activity, unless the call has one; none by default (nil).
    var activityLabel: String? { get }
    /// Sends the members, off the caller's actor. What `agent` sends belongs to the composite. What was started and
    /// still runs when this returns or throws is cancelled, and the composite ends after the last member.
    func run(on agent: ScopedAgent) async throws -> Output
    /// The composite that runs where a delegate was given: one whose `run` notifies that delegate, held weakly, of more
    /// than the end. Itself by default.
    func notifying(_ delegate: Delegate) -> Self
    /// Notifies a delegate, held weakly, of the end; see ``Completion/main(success:failure:cancellation:)``.
    func completion(notifying delegate: Delegate) -> Completion<Output>
}

extension Composite {
    /// None.
    public var activityLabel: String? { nil }

    /// Itself.
    public func notifying(_ delegate: Delegate) -> Self { self }
}

extension Composite where Delegate == any CompositeDelegate {
    /// Notifies the delegate of success, failure or cancellation.
    public func completion(notifying delegate: any CompositeDelegate) -> Completion<Output> {
        .main(
            success: { [weak delegate] in delegate?.compositeDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.compositeDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.compositeDidCancel($0) })
    }
}

/// Notified on the main actor how a started composite ended, before its completion closure: exactly one of the three,
/// once. All are optional. A delegate is held weakly; `activity` says which run it was.
@MainActor public protocol CompositeDelegate: AnyObject, Sendable {
    /// The output is what `run` returns.
    func compositeDidSucceed(_ activity: Activity, output: any Sendable)
    /// The error is what `run` throws.
    func compositeDidFail(_ activity: Activity, error: any Error)
    /// The composite was cancelled.
    func compositeDidCancel(_ activity: Activity)
}

extension CompositeDelegate {
    /// Does nothing.
    public func compositeDidSucceed(_ activity: Activity, output: any Sendable) {}
    /// Does nothing.
    public func compositeDidFail(_ activity: Activity, error: any Error) {}
    /// Does nothing.
    public func compositeDidCancel(_ activity: Activity) {}
}
