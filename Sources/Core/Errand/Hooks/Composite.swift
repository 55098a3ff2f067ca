/// Several calls that act as one call: they have a common output and handle, are cancelled together and end together.
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
/// Run a composite any number of times, also concurrently, on any ``Agent``. Each run is a separate ``Activity`` with
/// the members' activities as its children. Members can be composites. Unlike a request, a composite doesn't have a URL
/// or filters.
public protocol Composite<Output>: Sendable {
    /// The value that the composite returns when it ends.
    associatedtype Output: Sendable
    /// The delegate's type. Defaults to ``CompositeDelegate``.
    associatedtype Delegate = any CompositeDelegate

    /// The kind of the composite's activity, such as "race", for logs and accessories.
    var activityKind: ActivityKind { get }
    /// The name of the composite's activity in logs. The call's label takes precedence. Defaults to nil.
    var activityLabel: String? { get }
    /// Sends the composite's members and returns its output. Runs off the caller's actor.
    ///
    /// Everything sent with `agent` belongs to the composite. When this method ends, started members that still run are
    /// cancelled. The composite ends after its last member.
    func run(on agent: ScopedAgent) async throws -> Output
    /// Returns a copy of the composite that notifies a delegate while it runs. Implement this method if the delegate
    /// should hear about more than the composite's end, and hold the delegate weakly. Defaults to returning the
    /// composite unchanged.
    func notifying(_ delegate: Delegate) -> Self
    /// Returns a completion that notifies a delegate of the composite's end. Hold the delegate weakly. See
    /// ``Completion/main(success:failure:cancellation:)``.
    func completion(notifying delegate: Delegate) -> Completion<Output>
}

extension Composite {
    /// Returns nil.
    public var activityLabel: String? { nil }

    /// Returns the composite unchanged.
    public func notifying(_ delegate: Delegate) -> Self { self }
}

extension Composite where Delegate == any CompositeDelegate {
    /// Returns a completion that notifies a ``CompositeDelegate``.
    public func completion(notifying delegate: any CompositeDelegate) -> Completion<Output> {
        .main(
            success: { [weak delegate] in delegate?.compositeDidSucceed($0, output: $1) },
            failure: { [weak delegate] in delegate?.compositeDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.compositeDidCancel($0) })
    }
}

/// Receives the end of a started composite on the main actor, before the completion closure. Exactly one method is
/// called, once.
///
/// All methods are optional. The delegate is held weakly. `activity` identifies the run.
@MainActor public protocol CompositeDelegate: AnyObject, Sendable {
    /// The composite succeeded with the output of `run`.
    func compositeDidSucceed(_ activity: Activity, output: any Sendable)
    /// The composite failed with the error of `run`.
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
