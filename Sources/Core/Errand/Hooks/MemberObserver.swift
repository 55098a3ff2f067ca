public import ErrandHTTP
import ErrandMessageSyntax

/// Observes the members of a ``ScopedAgent``, for example to compute a composite's progress; see
/// ``ScopedAgent/observed(by:)``. All methods are optional.
public protocol MemberObserver: Sendable {
    /// A member starts. Called synchronously, before its will-start.
    func memberWillStart(_ member: CompositeMember)
    /// A member reported its progress. Called on any thread, in order for each member.
    func member(_ member: CompositeMember, didReport progress: TransferProgress)
    /// A member ended. Called exactly once for each, and awaited before the sender receives its result.
    func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async
}

extension MemberObserver {
    /// Ignores the event.
    public func memberWillStart(_ member: CompositeMember) {}
    /// Ignores the event.
    public func member(_ member: CompositeMember, didReport progress: TransferProgress) {}
    /// Ignores the event.
    public func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {}
}

/// A call that belongs to an activity.
public struct CompositeMember: Sendable {
    /// The index, from 0, in the order in which members began.
    public let index: Int
    /// A request, or the kind of a composite.
    public let kind: ActivityKind
    /// The request. Nil for a composite.
    public let request: (any Request)?
    private let givenLabel: String?

    init(_ index: Int, _ label: String?, _ kind: ActivityKind, _ request: (any Request)?) {
        (self.index, givenLabel, self.kind, self.request) = (index, label, kind, request)
    }

    /// The label of the call or composite, or else the request's label, its type, or the kind. Control characters are
    /// escaped.
    public var label: String {
        ControlCharacters.escaped(givenLabel ?? request.map { $0.label ?? "\(type(of: $0))" } ?? kind.rawValue)
    }

    /// The output of a member.
    public struct Output: Sendable {
        /// The decoded value, or the output of a composite.
        public let value: any Sendable
        /// The response to a request. Nil for a composite.
        public let http: HTTPResponse?
    }
}
