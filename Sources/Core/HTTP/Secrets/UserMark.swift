import ErrandSupport
import Synchronization

/// Identifies the user of a request, so one user never gets a response that was stored or shared for another.
///
/// ```swift
/// var exchange = exchange
/// exchange.assign(to: UserMark(session.id, source: "session"))
/// ```
///
/// Requests with the same marks belong to the same user. Descriptions never show the identity.
public struct UserMark: Sendable, Hashable {
    /// The source of the identity, such as a header name. Shown in logs.
    public let source: String
    /// The user's ID or credentials. The identity is a secret: stores keep only a MAC of it.
    public let identity: String

    /// Creates a mark. Logs show the source, but never the identity.
    public init(_ identity: String, source: String) { (self.identity, self.source) = (identity, source) }

    /// Compares the bytes of the texts, because canonically equivalent names can be different users.
    public static func == (a: UserMark, b: UserMark) -> Bool {
        a.identity.hasSameBytes(as: b.identity) && a.source.hasSameBytes(as: b.source)
    }

    /// Hashes only the identity, because it almost always differs.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension UserMark: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The source and a mask for the identity.
    public var description: String { "\(source) \(Redaction.mask)" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror with only the source, so a dump doesn't reveal the identity.
    public var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// The marks that filters set on an exchange, and the header fields that the marks represent.
package struct UserMarks: Sendable, Equatable {
    package var marks: Set<UserMark> = []
    private var carriers: [HTTPHeaders.Field] = []
    /// The secret query items that the marks represent, such as `api_key=k`.
    package private(set) var queryItems: [String] = []

    package init() {}

    package mutating func insert(
        _ mark: UserMark, carriedBy fields: [HTTPHeaders.Field], queryItems items: [String] = []
    ) {
        marks.insert(mark)
        carriers += fields.filter { !carriers.contains($0) }
        queryItems += items.filter { !queryItems.contains($0) }
    }

    package func include(
        _ mark: UserMark, carriedBy fields: [HTTPHeaders.Field], queryItems items: [String] = []
    ) -> Bool {
        marks.contains(mark) && fields.allSatisfy { carriers.contains($0) }
            && items.allSatisfy { queryItems.contains($0) }
    }

    package func union(_ other: UserMarks) -> UserMarks {
        var union = self
        union.marks.formUnion(other.marks)
        union.carriers += other.carriers.filter { !carriers.contains($0) }
        union.queryItems += other.queryItems.filter { !queryItems.contains($0) }
        return union
    }

    /// Returns a mark for each sensitive field that the declared marks don't represent. Fields of the same name share a
    /// mark.
    package static func implied(by headers: HTTPHeaders, besides marks: UserMarks?) -> Set<UserMark> {
        var implied: Set<UserMark> = []
        for field in headers where field.isSensitive && marks?.stand(for: field) != true {
            let source = source(of: field.name)
            if let known = implied.first(where: { $0.source == source }) {
                implied.remove(known)
                implied.insert(UserMark(known.identity + ", " + field.value, source: source))
            } else {
                // Reserve capacity first. Otherwise, the second insertion would hash the first mark again.
                if implied.isEmpty { implied.reserveCapacity(2) }
                implied.insert(UserMark(field.value, source: source))
            }
        }
        return implied
    }

    /// Returns the lowercase name for a header's mark. Lists the most common names, because converting them would be
    /// slower.
    private static func source(of name: HTTPHeaderName) -> String {
        switch name.rawName {
        case "Authorization": "authorization"
        case "Cookie": "cookie"
        default: name.rawName.lowercased()
        }
    }

    private func stand(for field: HTTPHeaders.Field) -> Bool {
        carriers.contains { $0.hasSameText(as: field) }
    }
}

package protocol UserRecording: AnyObject, Sendable {
    func add(_ marks: Set<UserMark>)
}

/// A record of the users whose requests were sent for a response. `Exchange.recordingUsers()` creates it for a filter
/// that stores responses.
public final class UserRecord: UserRecording {
    private let state = Mutex<Set<UserMark>?>(nil)
    private let outer: (any UserRecording)?

    package init(within outer: (any UserRecording)? = nil) { self.outer = outer }

    /// The marks of all requests that were sent. `nil` if no request was sent.
    public var marks: Set<UserMark>? { state.withLock { $0 } }

    package func add(_ marks: Set<UserMark>) { state.withLock { $0 = $0?.union(marks) ?? marks } }

    /// Adds the marks to the record of the surrounding exchange. Call it only if the response is used.
    public func commit() {
        if let marks, let outer { outer.add(marks) }
    }
}
