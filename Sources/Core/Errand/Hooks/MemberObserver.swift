public import ErrandHTTP
import ErrandMessageSyntax

/// Receives what becomes of the members that a ``ScopedAgent`` sends, for the progress, the errors and the delegate of
/// a composite; see ``ScopedAgent/observed(by:)``. All methods are optional.
public protocol MemberObserver: Sendable {
    /// Synchronously, before the member's own will-start.
    func memberWillStart(_ member: CompositeMember)
    /// The member reports its progress, on any thread, in order for one member.
    func member(_ member: CompositeMember, didReport progress: TransferProgress)
    /// Awaited before the member's result reaches the one who sent it; exactly once for each member.
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
    /// Its place, from 0, in the order in which the members began.
    public let index: Int
    /// A request, or the kind of a composite.
    public let kind: ActivityKind
    /// The request; nil for a composite.
    public let request: (any Request)?
    private let givenLabel: String?

    init(_ index: Int, _ label: String?, _ kind: ActivityKind, _ request: (any Request)?) {
        (self.index, givenLabel, self.kind, self.request) = (index, label, kind, request)
    }

    /// The label of the call or the composite, else the request's, else the request's type, else the kind. Control
    /// characters are escaped.
    public var label: String {
        ControlCharacters.escaped(givenLabel ?? request.map { $0.label ?? "\(type(of: $0))" } ?? kind.rawValue)
    }

    /// The output of a member.
    public struct Output: Sendable {
        /// The decoded value of a request, or the output of a composite.
        public let value: any Sendable
        /// The response of a request; nil for a composite.
        public let http: HTTPResponse?
    }
}
