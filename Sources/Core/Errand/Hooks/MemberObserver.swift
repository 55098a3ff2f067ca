public import ErrandHTTP
import ErrandMessageSyntax

/// Observes the members that a ``ScopedAgent`` sends, for example to compute a composite's progress or notify its
/// delegate; see ``ScopedAgent/observed(by:)``. All methods are optional.
public protocol MemberObserver: Sendable {
    /// A member is about to start. Called synchronously, before the member's will-start.
    func memberWillStart(_ member: CompositeMember)
    /// A member reported its progress. Called on any thread, in order for each member.
    func member(_ member: CompositeMember, didReport progress: TransferProgress)
    /// A member has ended. Called exactly once per member, and awaited before the sender receives the member's result.
    func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async
}

extension MemberObserver {
    /// Does nothing.
    public func memberWillStart(_ member: CompositeMember) {}
    /// Does nothing.
    public func member(_ member: CompositeMember, didReport progress: TransferProgress) {}
    /// Does nothing.
    public func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {}
}

/// A call that belongs to an activity.
public struct CompositeMember: Sendable {
    /// The member's index, from 0, in the order in which members began.
    public let index: Int
    /// The kind: a request, or the kind of a composite.
    public let kind: ActivityKind
    /// The request. Nil for a composite.
    public let request: (any Request)?
    private let givenLabel: String?

    init(_ index: Int, _ label: String?, _ kind: ActivityKind, _ request: (any Request)?) {
        (self.index, givenLabel, self.kind, self.request) = (index, label, kind, request)
    }

    /// The label of the call or composite. If it has none, the request's label, the request's type, or the kind, in
    /// this order. Control characters are escaped.
    public var label: String {
        ControlCharacters.escaped(givenLabel ?? request.map { $0.label ?? "\(type(of: $0))" } ?? kind.rawValue)
    }

    /// The output of a member.
    public struct Output: Sendable {
        /// The decoded value of a request, or the output of a composite.
        public let value: any Sendable
        /// The response to a request. Nil for a composite.
        public let http: HTTPResponse?
    }
}
